"""The command `report`: one page from the scores of runs, and figures and a summary as files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from exactworlds.cli.output import print_json, print_lines
from exactworlds.errors import InvalidSpec, Problem, UnreadableFile, UsageError
from exactworlds.files.run import read_run
from exactworlds.files.scores import SCORES, input_digests, read_scores, stale_inputs, task_folder

__all__ = ["fresh_scores", "report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders that `score` has scored.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML page to write.")],
    figures: Annotated[Path | None, typer.Option(help="A folder for the charts as PNG and SVG.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="A file for the summary as Markdown.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Make one self-contained HTML page of scored runs, with their charts and where every number comes from."""
    try:
        from exactworlds.report import images, page  # noqa: PLC0415  # the extra `report`
        from exactworlds.report import markdown as summary  # noqa: PLC0415
        from exactworlds.report.scored import with_labels  # noqa: PLC0415
    except ImportError as error:
        needed = "Jinja2 and Matplotlib: pip install 'exactworlds[report]'"
        raise UsageError(f"{error.name} is not installed; a report needs {needed}") from None
    contents = [(run.resolve().name, fresh_scores(run)) for run in runs]
    try:
        scored = with_labels(contents)
        written = {out: page.page(scored)}
        if markdown is not None:
            written[markdown] = summary.markdown(scored)
        charts = [chart for view in page.section_views(scored) for chart in view.charts] if figures is not None else []
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        listed = ", ".join(str(run / SCORES) for run in runs)
        what = f"found no such content as scores have ({type(error).__name__}: {error}); run `exactworlds score` again"
        raise InvalidSpec(listed, [Problem("", what)]) from error
    for file, text in written.items():
        _write(file, text)
    files = [str(file) for file in written]
    if figures is not None:
        try:
            files += [str(file) for file in images.write_images(charts, figures)]
        except OSError as error:
            raise UnreadableFile(figures, f"cannot be written ({error.strerror})") from None
    if as_json:
        print_json({"runs": [one.label for one in scored], "files": files})
    else:
        print_lines([f"✓ {file}" for file in files])


def fresh_scores(run: Path) -> Mapping[str, Any]:
    """The scores of a run; refused if the files that they were computed from have changed since."""
    content = read_scores(run)
    changed = stale_inputs(content, input_digests(run, task_folder(run, read_run(run))))
    if changed:
        raise UsageError(
            f"{run / SCORES} is not of the files that are there now: {_listed(changed)} changed; "
            f"run `exactworlds score {run}` again"
        )
    return content


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _write(file: Path, text: str) -> None:
    """Writes a file under a temporary name first."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".partial", dir=file.parent)
        part = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            part.chmod(0o644)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UnreadableFile(file, f"cannot be written ({error.strerror})") from None
