"""The likelihood readout: from logits to probabilities in NumPy; the model is only where the logits come from."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collect_helpers import EVENT, SHOWN, WHOLE
from exactworlds.collect.backends import Asked, prepare
from exactworlds.collect.forms import LOCAL
from exactworlds.collect.likelihood import Likelihood, answer_ids, load_source, prompt, readout
from exactworlds.collect.reading import run_ends
from exactworlds.collect.runner import Job, Limits, collect
from exactworlds.errors import InvalidArgument, UsageError
from exactworlds.files.run import RunInfo, create_run

LOGITS = st.lists(st.floats(-30, 30), min_size=3, max_size=12)


@given(LOGITS, st.data())
def test_the_readout_is_the_softmax_by_its_definition(logits: list[float], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(logits) - 1), min_size=2, max_size=3, unique=True))
    shares, mass = readout(np.array(logits), ids)
    with mpmath.workdps(40):
        every = [mpmath.exp(mpmath.mpf(value)) for value in logits]
        chosen = [every[place] for place in ids]
        for share, weight in zip(shares, chosen, strict=True):
            assert abs(share - weight / sum(chosen)) < 1e-15
        assert abs(mass - sum(chosen) / sum(every)) < 1e-14


@given(LOGITS, st.floats(-1e3, 1e3))
def test_adding_a_constant_to_all_logits_changes_nothing_of_note(logits: list[float], shift: float) -> None:
    left, right = readout(np.array(logits), [0, 1]), readout(np.array(logits) + shift, [0, 1])
    assert left[0] == pytest.approx(right[0], abs=1e-9)
    assert left[1] == pytest.approx(right[1], abs=1e-9)


@pytest.mark.parametrize("bad", [[math.nan, 0, 1], [math.inf, 0, 1], [0, 1, math.nan], [[0, 1]]])
def test_logits_that_are_no_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidArgument):
        readout(np.array(bad), [0, 1])
    with pytest.raises(InvalidArgument):
        readout(np.array([0.0, 1.0]), [0, 0])


class Spelled:
    """A source whose tokens are characters, and whose logits prefer a letter by the length of the text."""

    window = 400

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, text: str) -> Sequence[int]:
        return [ord(character) for character in text.replace(" A", "Ā").replace(" B", "Ă").replace(" C", "Ą")]

    def logits(self, ids: Sequence[int]) -> Any:
        self.seen.append("".join(map(chr, ids)))
        values = np.full(300, -9.0)
        values[ord("Ā")], values[ord("Ă")], values[ord("Ą")] = 0.0, math.log(3.0), 0.0
        return values


def test_the_answers_follow_the_prompt_and_their_mass_is_kept(tmp_path: Path) -> None:
    source = Spelled()
    likelihood = Likelihood(source)
    job = Job(LOCAL["likelihood"].wire, "m", "in-process", Fraction(1, 10**12), likelihood.ask, nullcontext(),
              window=likelihood.window, count=likelihood.count)  # fmt: skip
    create_run(tmp_path / "run", RunInfo("t", "likelihood", "m", "in-process", "0.000000000001", "../t", "0" * 64, "0"))
    requests = [EVENT, SHOWN, WHOLE]
    asyncio.run(collect(tmp_path / "run", lambda: iter(requests), job, Limits(1)))
    event, shown, whole = run_ends(tmp_path / "run", requests)
    assert float((event.report or {})["yes"]) == pytest.approx(0.75, abs=1e-12)
    assert float((whole.report or {})["K2"]) == pytest.approx(0.6, abs=1e-12)
    others = 297 * math.exp(-9)
    assert event.label_mass == pytest.approx(4 / (5 + others), abs=1e-9)
    assert shown.state == "valid"
    assert source.seen[0].endswith("Answer:")
    assert "Sun." in source.seen[1]


def test_what_does_not_fit_the_window_is_counted_by_the_models_own_tokenizer() -> None:
    source = Spelled()
    likelihood = Likelihood(source)
    body = LOCAL["likelihood"].wire.body(EVENT, "m")
    assert likelihood.count(body) == len(source.encode(prompt(EVENT)))
    assert likelihood.window == 399


def test_an_answer_of_several_tokens_is_refused() -> None:
    with pytest.raises(UsageError, match="is not one token"):
        answer_ids(lambda text: [ord(character) for character in text], "Answer:", ["A"])
    with pytest.raises(UsageError, match="is not one token"):
        answer_ids(lambda text: [len(text), 1] if text.endswith("A") else [0], "Answer:", ["A"])


def test_the_model_is_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs --model"):
        prepare(Asked("likelihood", tmp_path))


def test_a_real_model_of_the_library_gives_its_own_softmax(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra `hf` is not installed")
    torch = pytest.importorskip("torch", reason="the extra `hf` is not installed")
    tokenizers = pytest.importorskip("tokenizers")
    words = ["[UNK]", *["Clouds", ".", "Will", "it", "rain", "?", "A", "B", ":", "no", "yes", "dry", "wet", "Answer"]]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]").save_pretrained(tmp_path / "model")
    torch.manual_seed(1)
    sizes = {"vocab_size": len(words), "n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    network = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes))
    network.save_pretrained(tmp_path / "model")
    source = load_source(str(tmp_path / "model"))
    assert source.window == 64
    exchange = asyncio.run(Likelihood(source).ask(LOCAL["likelihood"].wire.body(EVENT, "m")))
    reading = LOCAL["likelihood"].wire.read(exchange.body, EVENT)
    ids = source.encode(prompt(EVENT))
    with torch.no_grad():
        row = torch.softmax(network.eval()(torch.tensor([list(ids)])).logits[0, -1].double(), -1)
    a, b = (row[words.index(letter)].item() for letter in "AB")
    assert float(reading.pairs[1][2] or 0) == pytest.approx(b / (a + b), abs=1e-6)
    assert reading.label_mass == pytest.approx(a + b, abs=1e-6)
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_source(str(tmp_path / "none"))
