"""The generated reference page lists every metric, and the docstrings cite claims that exist."""

from __future__ import annotations

import re

import pytest

from exactworlds import metrics
from exactworlds.audit.reference import evidence_text, reference_page
from exactworlds.spec.claims import load_claims

CLAIMS = set(load_claims().claim)


@pytest.mark.parametrize("name", metrics.__all__)
def test_docstrings_cite_claims_that_exist(name: str) -> None:
    text = getattr(metrics, name).__doc__ or ""
    for paragraph in re.findall(r"Claim: (.*?)\n\n", text, re.DOTALL):
        cited = set(re.findall(r"(?<![\w.])(?:[A-F]|conventions)\.[a-z][a-z0-9-]*", paragraph))
        assert cited, f"{name} cites no claim: {paragraph}"
        assert cited <= CLAIMS


def test_the_reference_page_lists_every_metric_with_its_claim_and_proof() -> None:
    pytest.importorskip("pdoc", reason="the reference page needs the docs extra")
    before = {name: getattr(metrics, name).__doc__ for name in metrics.__all__}
    page = reference_page()
    assert {name: getattr(metrics, name).__doc__ for name in metrics.__all__} == before
    for name in metrics.__all__:
        assert f'id="{name}"' in page, f"{name} is not on the page"
    for part in ("Formula: KL(q‖p)", "Claim: C.kl", "Raises", "Evidence: C.kl is proved by"):
        assert part in page
    cited = {
        name
        for name in metrics.__all__
        if callable(getattr(metrics, name)) and "Claim:" in (getattr(metrics, name).__doc__ or "")
    }
    assert len(cited) > 90
    for name in cited:
        assert "proofs/test_" in evidence_text(before[name]) or "tests/test_" in evidence_text(before[name]), name
