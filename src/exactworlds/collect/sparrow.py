"""The bundled decision model, in-process: small, deterministic, and real. Weak on yes or no by its own account.

It speaks System One, unrounded. Its tokenizer and its window are its own: it would cut a longer text in silence, so a
request that does not fit is never sent.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from exactworlds.collect.exchange import Exchange
from exactworlds.errors import NotFound, UsageError

__all__ = ["Sparrow"]


class Sparrow:
    """One of the models that the package `sparrow-decider` carries."""

    def __init__(self, model: str) -> None:
        try:
            import sparrow_decider  # noqa: PLC0415  # only who asks for it needs it
        except ImportError:
            raise UsageError("the bundled model needs the extra: pip install 'exactworlds[collect]'") from None
        known = sparrow_decider.available_models()
        if model not in known:
            raise NotFound("model", model, known)
        self._decider: Any = sparrow_decider.Decider.load(model)
        self._decider_module = sparrow_decider
        self.window: int | None = None if self._decider.static else int(self._decider.max_len)

    def count(self, body: bytes) -> int:
        """The tokens of a request as the model would see it, its own frame included."""
        content = json.loads(body)
        (question,) = content["questions"].values()
        kind, options = self._decider_module._options(question)
        decider = self._decider
        limit, decider.max_len = decider.max_len, 10**9
        try:
            ids, _, _ = decider._encode(content["state"], question.get("instructions"), kind, options)
        finally:
            decider.max_len = limit
        return len(ids)

    async def ask(self, body: bytes) -> Exchange:
        """An answer as the model's own server gives it, without the rounding."""
        began = time.monotonic()
        content = json.loads(body)
        answers = {name: self._answer(content["state"], question) for name, question in content["questions"].items()}
        whole = {
            "model": self._decider.name,
            "answers": answers,
            "usage": {"input_tokens": self.count(body), "output_tokens": 0},
        }
        answer = json.dumps(whole, ensure_ascii=False).encode()
        return Exchange(200, answer, seconds=time.monotonic() - began)

    def _answer(self, state: str, question: dict[str, Any]) -> dict[str, Any]:
        kind, names, _, shares = self._decider.probs(state, question)
        values = [float(share) for share in np.asarray(shares)]
        if kind == "noul":
            return {"type": kind, "noul": values[1]}
        report = dict(zip(names, values, strict=True))
        if kind == "choice":
            return {"type": kind, "choice": max(names, key=report.__getitem__), "probabilities": report}
        mean = sum(place * value for place, value in enumerate(values))
        return {"type": kind, "score": mean, "probabilities": report}
