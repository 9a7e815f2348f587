"""The command line: `exactworlds verify | check | show | cases | contracts | collect | score | report | golden …`.

Exit codes: 0 good, 1 a check failed, 2 usage or unreadable input. Errors are messages, never tracebacks; set
EXACTWORLDS_DEBUG=1 to see where one came from.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from exactworlds import __version__
from exactworlds.cli import goldens, worlds
from exactworlds.cli.cases import cases
from exactworlds.cli.collect import collect
from exactworlds.cli.contracts import contracts
from exactworlds.cli.reporting import report
from exactworlds.cli.scoring import score
from exactworlds.errors import ExactworldsError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Worlds whose probabilities are exact, and the checks that rest on them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(worlds.verify)
app.command()(worlds.check)
app.command()(worlds.show)
app.command()(cases)
app.command()(contracts)
app.command()(collect)
app.command()(score)
app.command()(report)
app.add_typer(goldens.app, name="golden")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"exactworlds {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Worlds whose probabilities are exact, and the checks that rest on them."""


def main() -> None:
    """Runs the command line; what goes wrong becomes one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal that cannot show ✓ gets a ? rather than an error
            reconfigure(errors="replace")
    try:
        app()
    except ExactworldsError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; nothing more to say
        sys.exit(1)
    except Exception as error:
        _fail(f"this is a fault of exactworlds, please report it: {type(error).__name__}: {error}")


def _fail(message: str) -> None:
    if os.environ.get("EXACTWORLDS_DEBUG"):
        raise  # noqa: PLE0704  # called while an exception is handled
    sys.stderr.write(message if "\n" in message else f"error: {message}")
    sys.stderr.write("\n")
    sys.exit(2)
