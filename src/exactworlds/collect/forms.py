"""The backends by name: which wire form each speaks, where it is reached, and how precise its numbers are.

The precision is what a backend prints: numbers with two decimals may miss 1 by half a hundredth an option. It is
declared here or on the command line, kept in `run.json`, and never fitted to what came back.
"""

from __future__ import annotations

from attrs import frozen

from exactworlds.collect.chat import ChatJson, ChatLogprobs
from exactworlds.collect.decisions import Decisions
from exactworlds.collect.plain import Plain
from exactworlds.collect.systemone import SystemOne
from exactworlds.collect.wire import Wire
from exactworlds.errors import NotFound

__all__ = ["FORMS", "Form", "LOCAL", "SERVED", "form_of", "wire_of"]


@frozen
class Form:
    """A backend: `path` follows the base address, `key` and the variables name what is read from the environment."""

    wire: Wire
    step: str
    path: str = ""
    key: str | None = None
    base: str | None = None
    base_variable: str | None = None
    model: str | None = None
    model_variable: str | None = None


READOUT_STEP = "0.000000000001"
"""A softmax in doubles is a distribution up to its rounding."""

SERVED: dict[str, Form] = {
    "systemone": Form(
        SystemOne(),
        "0.01",
        "/v1/systemone",
        key="TYPESAFE_API_KEY",
        base_variable="TYPESAFE_BASE_URL",
        model_variable="TYPESAFE_DEFAULT_MODEL",
    ),
    "cloudflare": Form(
        SystemOne(wrapped=True), "0.0001", "/@cf/cloudflare/clef", key="CLOUDFLARE_API_TOKEN", model="clef"
    ),
    "perplexity": Form(
        SystemOne(), "0.01", "/v1/decisions", key="PERPLEXITY_API_KEY", base="https://api.perplexity.ai"
    ),
    "openrouter": Form(
        SystemOne(), "0.01", "/api/alpha/decisions", key="OPENROUTER_API_KEY", base="https://openrouter.ai"
    ),
    "openai-decisions": Form(
        Decisions(),
        "0.01",
        "/decisions",
        key="OPENAI_API_KEY",
        base="https://api.openai.com/v1",
        base_variable="OPENAI_BASE_URL",
        model="gpt-6-luna",
    ),
    "chat-json": Form(
        ChatJson(),
        "0.01",
        "/chat/completions",
        key="OPENAI_API_KEY",
        base="https://api.openai.com/v1",
        base_variable="OPENAI_BASE_URL",
    ),
    "chat-logprobs": Form(
        ChatLogprobs(),
        READOUT_STEP,
        "/chat/completions",
        key="OPENAI_API_KEY",
        base="https://api.openai.com/v1",
        base_variable="OPENAI_BASE_URL",
    ),
}
"""Backends that are reached over HTTP."""

LOCAL: dict[str, Form] = {
    "sparrow": Form(SystemOne(), "0.000001", model="sparrow-nano-general-v1.1"),
    "likelihood": Form(Plain(), READOUT_STEP),
    "program": Form(Plain(), "0.000000001", model="program"),
    "reporter": Form(Plain(), "0"),
}
"""Backends that run on this machine; reporters are `study`'s and report exactly."""

FORMS: dict[str, Form] = {**SERVED, **LOCAL}


def form_of(backend: str) -> Form:
    """The form of a backend, by name."""
    if backend not in FORMS:
        raise NotFound("backend", backend, FORMS)
    return FORMS[backend]


def wire_of(backend: str) -> Wire:
    """The wire form that a backend's answers are in."""
    return form_of(backend).wire
