"""Local likelihood readout: next-token logits on the answer letters, softmax over them, and the mass they had together.

From logits to probabilities everything is here, in NumPy; the model is only where the logits come from. Answers that
are not one token each are refused: their likelihoods would not be comparable (P2, Section 3 and Appendix M).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from exactworlds.collect.chat import letters_of
from exactworlds.collect.exchange import Exchange
from exactworlds.collect.wire import case_text, option_lines
from exactworlds.errors import InvalidArgument, UsageError
from exactworlds.files.requests import Request
from exactworlds.spec.reading import structure

__all__ = ["Likelihood", "Source", "answer_ids", "load_source", "prompt", "readout"]


class Source(Protocol):
    """Where logits come from: a text in, the ids of its tokens and the logits of the next one out."""

    window: int

    def encode(self, text: str) -> Sequence[int]: ...

    def logits(self, ids: Sequence[int]) -> NDArray[Any]: ...


def readout(logits: NDArray[Any], ids: Sequence[int]) -> tuple[list[float], float]:
    """The softmax over the answer ids alone, and the probability that they had together among all tokens.

    >>> shares, mass = readout(np.log(np.array([0.1, 0.3, 0.6])), [0, 1])
    >>> [round(share, 6) for share in shares], round(mass, 6)
    ([0.25, 0.75], 0.4)
    """
    values = np.asarray(logits, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values[list(ids)]).all() or np.isnan(values).any():
        raise InvalidArgument("logits", values.shape, "one row of numbers, finite at the answers")
    if len(set(ids)) < len(ids):
        raise InvalidArgument("ids", list(ids), "a token of its own for each answer")
    weights = np.exp(values - values.max())
    chosen = np.exp(values[list(ids)] - values[list(ids)].max())
    return [float(share) for share in chosen / chosen.sum()], float(weights[list(ids)].sum() / weights.sum())


def answer_ids(encode: Callable[[str], Sequence[int]], prompt_text: str, letters: Sequence[str]) -> list[int]:
    """The token of each letter where it follows the prompt; a letter that is not one token there is refused."""
    before = list(encode(prompt_text))
    found = []
    for letter in letters:
        after = list(encode(prompt_text + " " + letter))
        if len(after) != len(before) + 1 or after[: len(before)] != before:
            raise UsageError(f"the answer {letter!r} is not one token of this model after the prompt, expected one")
        found.append(after[-1])
    return found


def prompt(request: Request) -> str:
    """The demonstrations and the case, the question, the options by letter; the answer's letter would come next."""
    marks = [f"{letter}." for letter in letters_of(request)]
    return f"{case_text(request)}\n\n{request.question}\n{option_lines(request, marks)}\nAnswer:"


@frozen
class Likelihood:
    """The backend over a source of logits."""

    source: Source

    @property
    def window(self) -> int:
        """Tokens that fit, with room for the answer."""
        return self.source.window - 1

    def count(self, body: bytes) -> int:
        """The tokens of a request."""
        return len(self.source.encode(prompt(_request(body))))

    async def ask(self, body: bytes) -> Exchange:
        """Probabilities of the options, read off the logits after the prompt."""
        began = time.monotonic()
        request = _request(body)
        text = prompt(request)
        ids = answer_ids(self.source.encode, text, letters_of(request))
        shares, mass = readout(self.source.logits(self.source.encode(text)), ids)
        report = {option.key: share for option, share in zip(request.options, shares, strict=True)}
        answer = json.dumps({"id": request.id, "probabilities": report, "label_mass": mass}).encode()
        return Exchange(200, answer, seconds=time.monotonic() - began)


def _request(body: bytes) -> Request:
    request = structure(json.loads(body), Request, "", [])
    assert request is not None
    return request


def load_source(model: str) -> Source:
    """A causal model of the transformers library: a folder, or a name that is in its cache."""
    try:
        import torch  # noqa: PLC0415  # heavy, and only for this backend
        import transformers  # noqa: PLC0415
    except ImportError:
        raise UsageError("the likelihood readout needs the extra: pip install 'exactworlds[hf]'") from None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, local_files_only=True)
        network: Any = transformers.AutoModelForCausalLM.from_pretrained(model, local_files_only=True)
        network.eval()
    except (OSError, ValueError) as error:
        raise UsageError(f"the model {model!r} cannot be loaded from this machine ({str(error)[:200]})") from None

    class _Loaded:
        window = int(getattr(network.config, "max_position_embeddings", 0)) or 10**9

        def encode(self, text: str) -> Sequence[int]:
            return list(tokenizer(text)["input_ids"])

        def logits(self, ids: Sequence[int]) -> NDArray[Any]:
            with torch.inference_mode():
                return np.asarray(network(torch.tensor([list(ids)])).logits[0, -1].float().numpy())

    return _Loaded()
