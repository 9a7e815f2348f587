"""The bundled decision model, in-process: small, deterministic, and real. Weak on yes or no by its own account.

It speaks System One, unrounded. Its tokenizer and its window are its own: it would cut a longer text in silence, so a
request that does not fit is never sent.
"""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import numpy as np

from exactworlds.collect.exchange import Exchange
from exactworlds.errors import NotFound, UsageError

__all__ = ["Sparrow"]

UNBOUNDED = 10**9


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
        self._module: Any = sparrow_decider
        reader = self._decider.static or self._decider
        self.window = int(reader.max_len)

    def count(self, body: bytes) -> int:
        """The tokens that have to fit: of the longest of its texts where the model pools each, else of all together."""
        content = json.loads(body)
        (question,) = content["questions"].values()
        kind, options = self._module._options(question)
        state, instructions = content["state"].strip(), question.get("instructions", "").strip()
        if self._decider.static:
            texts = [state, instructions, *(f"{name} {text}" for name, text in options)]
            return max(len(self._decider.static.tok.encode(text, UNBOUNDED)) for text in texts)
        unbounded = copy.copy(self._decider)
        unbounded.max_len = UNBOUNDED
        ids, _, _ = unbounded._encode(state, instructions, kind, options)
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
