"""Where a program runs: no network, nothing to write to but a scratch folder, and only what Python needs to read.

The isolation is the system's own, bubblewrap: namespaces of its own for files, network, processes and users. Where it
is not installed there is none, and that is said and has to be asked for; the limits on memory, files and processes,
the cleared environment and the time limit hold in both cases.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from exactworlds.errors import UsageError

__all__ = ["MOST_PROCESSES", "command", "isolation", "process_count"]

MOST_PROCESSES = 16
"""A program that has more processes than this is killed with all of them."""

SCRATCH = 64 * 1024**2
"""Bytes that an isolated program can write: its scratch folder is in memory and goes with it."""

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
_FIRST_USER = 1_500_000_000
"""Users from here on are no one's."""


def isolation() -> str | None:
    """The name of the isolation that this system has, or None."""
    return "bubblewrap" if shutil.which("bwrap") is not None else None


def command(scratch: Path, hidden: Path, *, isolated: bool) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of a process that runs `program.py` in the scratch folder.

    `hidden` is the task folder, which the program must not see; one that lies in what Python needs is refused.
    """
    host = Path(__file__).with_name("program_host.py")
    if not isolated:
        words = [sys.executable, "-I", str(host), str(scratch / "program.py")]
        return words, {**_ENVIRONMENT, "HOME": str(scratch)}
    bound = list(_readable(host))
    for place in bound:
        if hidden.resolve().is_relative_to(Path(place).resolve()):
            raise UsageError(f"the task folder lies in {place}, which a program may read; move it elsewhere")
    words = [str(shutil.which("bwrap")), "--die-with-parent", "--new-session", "--clearenv"]
    user: list[str] = []
    if os.geteuid() == 0:  # the kernel does not count root's processes: the host becomes a user that nobody else is
        words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        user = [str(_FIRST_USER + secrets.randbelow(10**8))]
    else:
        words.append("--unshare-all")
    for name, value in {**_ENVIRONMENT, "HOME": "/scratch"}.items():
        words += ["--setenv", name, value]
    for parent in sorted({parent for place in bound for parent in Path(place).parents if parent.parts[1:]}):
        words += ["--perms", "0755", "--dir", str(parent)]  # what lies below is to be reached by any user
    for place in sorted(bound):
        words += ["--ro-bind", place, place]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(SCRATCH), "--tmpfs", "/scratch"]
    words += ["--ro-bind", str(scratch / "program.py"), "/scratch/program.py", "--chdir", "/scratch"]
    return [*words, sys.executable, "-I", str(host), "/scratch/program.py", *user], {}


def _readable(host: Path) -> Iterator[str]:
    """The system's libraries, this Python with what is installed in it, and the host."""
    seen: set[str] = set()
    for place in (*_SYSTEM, sys.base_prefix, sys.prefix, str(host)):
        if place not in seen and Path(place).exists():
            seen.add(place)
            yield place


def process_count(pid: int, most: int) -> int:
    """How many processes a process has below it and is, counted no further than a little beyond `most`."""
    found, waiting = 0, [pid]
    while waiting and found <= most:
        current = waiting.pop()
        found += 1
        try:
            for thread in Path(f"/proc/{current}/task").iterdir():
                waiting += [int(child) for child in (thread / "children").read_text().split()]
        except (OSError, ValueError):  # it ended while we looked
            continue
    return found
