"""From what was asked for to who is asked: addresses, keys, models and programs become a job, or one clear message.

Keys are looked up here, in the environment, and go nowhere but into the header of the requests and the list of what is
hidden. Reporters are not made here: they belong to `study`, and come in as a way to answer (`job_of`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib.metadata import version
from pathlib import Path

from attrs import frozen

from exactworlds.collect.exchange import Ask
from exactworlds.collect.forms import SERVED, Form, form_of
from exactworlds.collect.http import HttpTransport, checked_url, is_loopback
from exactworlds.collect.likelihood import Likelihood, load_source
from exactworlds.collect.program import Program
from exactworlds.collect.runner import Job
from exactworlds.collect.sandbox import isolation
from exactworlds.collect.secrets import Secrets, key_from_environment
from exactworlds.collect.sparrow import Sparrow
from exactworlds.errors import InvalidArgument, UsageError
from exactworlds.rational import parse_exact

__all__ = ["Asked", "Prepared", "job_of", "prepare"]

IN_PROCESS = "in-process"


@frozen
class Asked:
    """What was asked for on the command line; None where nothing was said."""

    backend: str
    task: Path
    model: str | None = None
    base_url: str | None = None
    program: Path | None = None
    step: str | None = None
    timeout: float = 60.0
    isolated: bool = True


@frozen
class Prepared:
    """A job, and what `run.json` says of it."""

    job: Job
    model: str
    step: str
    settings: Mapping[str, str]


def prepare(asked: Asked) -> Prepared:
    """The job of a backend that is served, or runs on this machine."""
    form = form_of(asked.backend)
    if asked.backend in SERVED:
        return _served(asked, form)
    if asked.base_url is not None:
        raise UsageError(f"{asked.backend} runs on this machine, found a base address for it")
    if asked.backend == "sparrow":
        sparrow = Sparrow(asked.model or form.model or "")
        facts = {"package": f"sparrow-decider {version('sparrow-decider')}", "window": str(sparrow.window)}
        return job_of(asked, asked.model or form.model or "", sparrow.ask, facts, counter=sparrow)
    if asked.backend == "likelihood":
        if asked.model is None:
            raise UsageError("likelihood needs --model, a folder or a name in the library's cache")
        likelihood = Likelihood(load_source(asked.model))
        facts = {"package": f"transformers {version('transformers')}", "window": str(likelihood.window)}
        return job_of(asked, Path(asked.model).name, likelihood.ask, facts, counter=likelihood)
    if asked.backend == "program":
        return _program(asked)
    raise UsageError(f"{asked.backend} is not asked in this way")


def job_of(
    asked: Asked,
    model: str,
    ask: Ask,
    settings: Mapping[str, str],
    *,
    endpoint: str = IN_PROCESS,
    opened: AbstractAsyncContextManager[object] | None = None,
    key: str | None = None,
    counter: Sparrow | Likelihood | None = None,
) -> Prepared:
    """The job of something that answers; in this process, without a key or a window, unless they are named."""
    form = form_of(asked.backend)
    step = _step(asked, form)
    job = Job(
        wire=form.wire,
        model=model,
        endpoint=endpoint,
        step=parse_exact(step),
        ask=ask,
        open=opened if opened is not None else nullcontext(),
        secrets=Secrets((key,) if key is not None else ()),
        window=counter.window if counter is not None else None,
        count=counter.count if counter is not None else None,
    )
    return Prepared(job, model, step, settings)


def _served(asked: Asked, form: Form) -> Prepared:
    from_environment = os.environ.get(form.base_variable, "") if form.base_variable else ""
    base = asked.base_url or from_environment or form.base
    if not base:
        known = f" or the environment variable {form.base_variable}" if form.base_variable else ""
        raise UsageError(f"{asked.backend} has no address: expected --base-url{known}")
    base = checked_url(base)
    model = asked.model or (os.environ.get(form.model_variable, "") if form.model_variable else "") or form.model
    if not model:
        raise UsageError(f"{asked.backend} has no model: expected --model")
    assert form.key is not None
    key = key_from_environment(form.key, needed=not is_loopback(base))
    url = base + form.path
    transport = HttpTransport(url, key=key, timeout=asked.timeout)
    return job_of(asked, model, transport.ask, {}, endpoint=url, opened=transport, key=key)


def _program(asked: Asked) -> Prepared:
    if asked.program is None:
        raise UsageError("program needs --program, a Python file that defines predict(request)")
    found = isolation()
    if asked.isolated and found is None:
        raise UsageError(
            "this system has no bubblewrap (bwrap), so a program could read and write files and use the network; "
            "install it, or say --no-isolation to run the program with limits on memory, files and time only"
        )
    program = Program(asked.program, task=asked.task, timeout=asked.timeout, isolated=asked.isolated)
    settings = {"isolation": (found or "none") if asked.isolated else "none", "program_sha256": program.digest}
    return job_of(asked, asked.model or asked.program.stem, program.ask, settings, opened=program)


def _step(asked: Asked, form: Form) -> str:
    """The declared precision: what was said, or the backend's own."""
    if asked.step is None:
        return form.step
    try:
        value = parse_exact(asked.step)
    except InvalidArgument as error:
        raise UsageError(f"--step: {error}") from None
    if not 0 <= value <= 1:
        raise UsageError(f"found the step {asked.step}, expected 0 (exact) to 1, such as 0.01 for two decimals")
    return asked.step
