"""The reference page of the metrics: `python -m exactworlds.audit.reference OUT` (extra `docs`).

pdoc turns docstrings into HTML; this module adds to each metric what the registry of claims says stands behind it:
the proofs, or the tests where a claim is checked only. What is not here: the docstrings themselves.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from exactworlds import metrics
from exactworlds.spec.claims import Claim, load_claims

__all__ = ["evidence_text", "main", "reference_page"]

_CLAIM = re.compile(r"(?<![\w.])(?:[A-F]|conventions)\.[a-z][a-z0-9-]*")
_PARAGRAPH = re.compile(r"Claim: (.+?)(?:\n\s*\n|\Z)", re.DOTALL)


def evidence_text(docstring: str) -> str:
    """What stands behind the claims that a docstring cites, one claim a line.

    >>> evidence_text("Claim: D.coverage.").startswith("Evidence: D.coverage is checked")
    True
    """
    cited = [name for paragraph in _PARAGRAPH.findall(docstring) for name in _CLAIM.findall(paragraph)]
    known = load_claims().claim
    lines = [_line(name, known[name]) for name in dict.fromkeys(cited) if name in known]
    return "Evidence: " + "; ".join(lines) + "." if lines else ""


def reference_page() -> str:
    """The page of `exactworlds.metrics`, as HTML."""
    import pdoc  # noqa: PLC0415  # the extra `docs`

    originals = {name: getattr(metrics, name).__doc__ for name in metrics.__all__ if _has_text(name)}
    try:
        for name, text in originals.items():
            evidence = evidence_text(text or "")
            if evidence:
                getattr(metrics, name).__doc__ = _with_evidence(text or "", evidence)
        pdoc.render.configure(docformat="numpy")
        module = pdoc.doc.Module(metrics)
        return str(pdoc.render.html_module(module, {"exactworlds.metrics": module}))
    finally:
        for name, text in originals.items():
            getattr(metrics, name).__doc__ = text


def main(arguments: list[str] | None = None) -> int:
    """The command: writes OUT/exactworlds/metrics.html; exit code 2 without pdoc."""
    parser = argparse.ArgumentParser(prog="python -m exactworlds.audit.reference", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder to write the page to")
    words = parser.parse_args(arguments)
    try:
        page = reference_page()
    except ImportError:
        sys.stderr.write('error: the reference page needs pdoc: pip install "exactworlds[docs]"\n')
        return 2
    file = words.out / "exactworlds" / "metrics.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")
    print(file)
    return 0


def _has_text(name: str) -> bool:
    thing = getattr(metrics, name)
    return callable(thing) and isinstance(thing.__doc__, str)


def _with_evidence(text: str, evidence: str) -> str:
    """The docstring with its evidence after the paragraph of its claim."""
    indent = re.search(r"\n( +)\S", text)
    margin = indent.group(1) if indent else ""
    found = re.search(r"Claim: .+?(?=\n\s*\n|\Z)", text, re.DOTALL)
    end = found.end() if found else len(text)
    return f"{text[:end]}\n\n{margin}{evidence}{text[end:]}"


def _line(name: str, claim: Claim) -> str:
    if claim.proved_by:
        return f"{name} is proved by {', '.join(f'`{proof}`' for proof in claim.proved_by)}"
    return f"{name} is {claim.status} by {', '.join(f'`{test}`' for test in claim.tested_by) or 'goldens'}"


if __name__ == "__main__":
    sys.exit(main())
