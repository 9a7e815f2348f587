"""Runs a program that predicts: inside the sandbox, with limits, requests in and answers out. Standard library only.

The file is run by itself, not imported: `python program_host.py PROGRAM [USER]`. The program defines
`predict(request)`, which returns the probability of the second option or an object of probabilities by option
key. What it prints goes to standard error; the stream of answers is out of its way.
"""

import json
import os
import resource
import sys
import types

MEMORY, FILES, FILE_SIZE, PROCESSES = 2 * 1024**3, 64, 8 * 1024**2, 32


def limit(user: int | None) -> None:
    """The limits that a process can set itself and not raise again; as root only after becoming another user."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_NPROC, PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))


def answer_of(request: dict[str, object], said: object) -> dict[str, object]:
    """An answer from what `predict` returned; a number is the probability of the second of two options."""
    if isinstance(said, dict):
        return {"id": request["id"], "probabilities": said}
    options = request["options"]
    if isinstance(said, int | float) and not isinstance(said, bool) and isinstance(options, list) and len(options) == 2:
        first, second = (option["key"] for option in options)
        return {"id": request["id"], "probabilities": {first: 1 - said, second: said}}
    return {"id": request["id"], "fault": f"predict returned {type(said).__name__}, expected a number or a dict"}


def main() -> None:
    """Answers one line with one line until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with open(sys.argv[1], encoding="utf-8") as stream:
        source = stream.read()
    limit(int(sys.argv[2]) if len(sys.argv) > 2 else None)
    program = types.ModuleType("program")
    program.__file__ = sys.argv[1]
    exec(compile(source, sys.argv[1], "exec"), program.__dict__)
    for line in questions:
        request = json.loads(line)
        try:
            found = answer_of(request, program.__dict__["predict"](request))
            text = json.dumps(found, allow_nan=False)
        except Exception as error:
            text = json.dumps({"id": request["id"], "fault": f"{type(error).__name__}: {error}"[:500]})
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
