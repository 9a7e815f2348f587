"""The generated reference page lists every metric, and the docstrings cite claims that exist."""

from __future__ import annotations

import re

import pytest

from exactworlds import metrics
from exactworlds.spec.claims import load_claims

CLAIMS = set(load_claims().claim)


@pytest.mark.parametrize("name", metrics.__all__)
def test_docstrings_cite_claims_that_exist(name: str) -> None:
    text = getattr(metrics, name).__doc__ or ""
    for paragraph in re.findall(r"Claim: (.*?)\n\n", text, re.DOTALL):
        cited = set(re.findall(r"\b(?:[A-F]|conventions)\.[a-z][a-z0-9-]*", paragraph))
        assert cited <= CLAIMS
        assert cited or re.match(r"(`\w+`|[EF] \()", paragraph), f"{name} cites no claim: {paragraph}"


def test_the_reference_page_lists_every_metric() -> None:
    pdoc = pytest.importorskip("pdoc", reason="the reference page needs the docs extra")
    pdoc.render.configure(docformat="numpy")
    page = pdoc.render.html_module(pdoc.doc.Module(metrics), {"exactworlds.metrics": pdoc.doc.Module(metrics)})
    for name in metrics.__all__:
        assert f'id="{name}"' in page, f"{name} is not on the page"
    for part in ("Formula: KL(q‖p)", "Claim: C.kl", "Raises"):
        assert part in page
