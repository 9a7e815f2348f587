"""How certificates of memos look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exactworlds.memo.certify import Certificate

__all__ = ["certificate_lines", "certificates_json"]


def certificate_lines(certificates: Sequence[Certificate]) -> list[str]:
    """One sentence for all that hold, and one for each fault."""
    if not certificates:
        return ["no memos: the file has no [template.NAME]"]
    good = [certificate for certificate in certificates if certificate.holds]
    lines = []
    if good:
        checked = sum(certificate.checked for certificate in good)
        sampled = [certificate for certificate in good if certificate.checked < certificate.patterns]
        text = f"✓ memos: {len(good)} templates × settings read back in one way ({checked:,} round trips"
        lines.append(text + (f", sampled for {len(sampled)} of them)" if sampled else ", every pattern)"))
    faults = [(entry, fault) for entry in certificates for fault in entry.faults]
    return lines + [f"✗ memos: {entry.template} in {entry.setting}: {fault}" for entry, fault in faults]


def certificates_json(certificates: Sequence[Certificate]) -> list[dict[str, Any]]:
    """Certificates as plain JSON values."""
    return [
        {
            "template": certificate.template,
            "setting": certificate.setting,
            "patterns": certificate.patterns,
            "checked": certificate.checked,
            "holds": certificate.holds,
            "faults": list(certificate.faults),
        }
        for certificate in certificates
    ]
