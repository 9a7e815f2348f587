"""The command `collect`: ask a model every request of a task, and keep the bytes of both sides."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from exactworlds import __version__
from exactworlds.cli.output import print_json, print_lines, progress
from exactworlds.collect.backends import Asked, Prepared, job_of, prepare
from exactworlds.collect.exchange import Ask, Exchange
from exactworlds.collect.forms import FORMS
from exactworlds.collect.runner import Counts, Limits, Outcome
from exactworlds.collect.runner import collect as ask_everything
from exactworlds.errors import UsageError
from exactworlds.files.requests import Request, check_requests, read_manifest, read_requests
from exactworlds.files.run import RunInfo, create_run
from exactworlds.rational import exact_text
from exactworlds.spec.bundled import find_world
from exactworlds.spec.prices import find_price, token_cost
from exactworlds.spec.reading import structure
from exactworlds.study.reporters import REPORTERS, Declined, reporter

__all__ = ["collect"]

_NAMES = [*(name for name in FORMS if name != "reporter"), *REPORTERS]


def collect(  # noqa: PLR0917  # a command's options are named by whoever types them
    task: Annotated[Path, typer.Argument(metavar="TASK", help="A task folder.")],
    backend: Annotated[str, typer.Option(help=f"Who is asked: {', '.join(_NAMES)}.")],
    out: Annotated[Path, typer.Option(help="The run folder: a new name, or that of a run to go on with.")],
    model: Annotated[str | None, typer.Option(help="The model's name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="The address of the service, without user or query.")] = None,
    program: Annotated[Path | None, typer.Option(help="For 'program': a Python file with predict(request).")] = None,
    world: Annotated[
        str | None, typer.Option(help="For reporters: the world file, if it is not a bundled one.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What tables call the run; the model's name if nothing.")] = None,
    step: Annotated[
        str | None, typer.Option(help="Declared precision, such as 0.01; the backend's own if none.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests at a time.")] = 8,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one attempt.")] = 60.0,
    patience: Annotated[float, typer.Option(min=0, help="Seconds for one request with all its attempts.")] = 600.0,
    deadline: Annotated[float | None, typer.Option(min=0, help="Seconds after which nothing new is sent.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Send at most so many requests now.")] = None,
    retry_interrupted: Annotated[
        bool, typer.Option("--retry-interrupted", help="Send again what was in flight when a session was killed.")
    ] = False,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run a program where the system has no isolation for it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Ask a model every request of a task. What has an answer is not asked again: run the same command to go on.

    Exit code 0 if every request has an answer, valid or not; 1 if some have none; 2 if it could not begin.
    """
    manifest = read_manifest(task)
    total = check_requests(task)
    asked = Asked(
        "reporter" if backend in REPORTERS else backend,
        task, model, base_url, program, step, timeout, not no_isolation,
    )  # fmt: skip
    prepared = _reporter(asked, backend, world) if backend in REPORTERS else prepare(asked)
    info = RunInfo(
        name=name or prepared.model,
        backend=asked.backend,
        model=prepared.model,
        endpoint=prepared.job.endpoint,
        step=prepared.step,
        task=Path(os.path.relpath(task.resolve(), out.resolve())).as_posix(),
        requests_sha256=manifest["requests_sha256"],
        exactworlds=__version__,
        settings=prepared.settings,
    )
    create_run(out, info)
    limits = Limits(concurrency, patience, deadline, limit, retry_interrupted)
    if prepared.settings.get("isolation") == "none":
        sys.stderr.write("note: this program runs without isolation: it can read files and use the network\n")
    with progress(info.name) as told:

        def tell(counts: Counts) -> None:
            told(f"{_summary(counts, info)};", counts.done, total)

        try:
            outcome = asyncio.run(ask_everything(out, lambda: read_requests(task), prepared.job, limits, tell))
        except KeyboardInterrupt:
            sys.stderr.write(f"interrupted; {out} keeps what was answered, run the same command to go on\n")
            raise typer.Exit(130) from None
    _print(out, info, outcome, as_json)


def _reporter(asked: Asked, name: str, world: str | None) -> Prepared:
    """A reference reporter, answering like any other backend."""
    if asked.model is not None or asked.base_url is not None:
        raise UsageError(f"{name} is a rule, found a model or an address for it")
    manifest = read_manifest(asked.task)
    if manifest.get("kind") != "cases":
        raise UsageError(f"{name} reads memos, expected a task of cases, found one of {manifest.get('kind')}")
    found, _ = find_world(world or str(manifest["world"]))
    known = reporter(name, found, manifest)
    return job_of(asked, name, _answering(known.report), {})


def _answering(report: Callable[[Request], dict[str, Fraction]]) -> Ask:
    async def ask(body: bytes) -> Exchange:
        began = time.monotonic()
        request = structure(json.loads(body), Request, "", [])
        assert request is not None
        try:
            said = {key: exact_text(value) for key, value in report(request).items()}
            content: dict[str, object] = {"id": request.id, "probabilities": said}
        except Declined as declined:
            content = {"id": request.id, "refusal": str(declined)}
        return Exchange(200, json.dumps(content, ensure_ascii=False).encode(), seconds=time.monotonic() - began)

    return ask


def _summary(counts: Counts, info: RunInfo) -> str:
    shown = f"{counts.valid:,} valid, {counts.rejected:,} rejected, {counts.unavailable:,} unavailable"
    tokens = counts.input_tokens + counts.output_tokens
    if not tokens:
        return shown
    cost = _cost(counts, info)
    price = "cost unknown (no list price)" if cost is None else f"{float(cost):.4f} USD at list price"
    return f"{shown}, {tokens:,} tokens, {price}"


def _cost(counts: Counts, info: RunInfo) -> Fraction | None:
    """What the tokens of this session cost at list price, in USD; None where there is no price."""
    price = find_price(info.backend, info.model)
    return None if price is None else token_cost(price, counts.input_tokens, counts.output_tokens)


def _print(out: Path, info: RunInfo, outcome: Outcome, as_json: bool) -> None:
    counts = outcome.counts
    missing = counts.total - counts.before - counts.valid - counts.rejected
    cost = _cost(counts, info)
    if as_json:
        print_json(
            {
                "run": str(out),
                "why": outcome.why,
                "message": outcome.message,
                "requests": counts.total,
                "answered_before": counts.before,
                "valid": counts.valid,
                "rejected": counts.rejected,
                "unavailable": counts.unavailable,
                "interrupted": counts.interrupted,
                "without_answer": missing,
                "attempts": counts.attempts,
                "input_tokens": counts.input_tokens,
                "output_tokens": counts.output_tokens,
                "cost_usd": exact_text(cost) if cost is not None else None,
            }
        )
    else:
        mark = "✗" if missing else "✓"
        before = f", {counts.before:,} before" if counts.before else ""
        lines = [
            f"{mark} {out}: {counts.total:,} requests: {counts.valid:,} valid, {counts.rejected:,} rejected{before}"
        ]
        if missing:
            lines.append(f"  {missing:,} have no answer ({outcome.why}); run the same command to go on")
        if counts.interrupted:
            lines.append(
                f"  {counts.interrupted:,} of them were in flight when a session was killed; "
                "--retry-interrupted sends them again"
            )
        print_lines(lines)
    if outcome.message:
        sys.stderr.write(f"error: {outcome.message}\n")
    if outcome.why == "unavailable":
        raise typer.Exit(2)
    if missing:
        raise typer.Exit(1)
