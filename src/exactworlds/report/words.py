"""What a report says in sentences: what was asked of whom, and what came out.

What is not here: tables and charts. A sentence says the convention and the n of each number in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from exactworlds.report.scored import Number, Scored, Section, configurations, group_name, spread
from exactworlds.report.values import percent, plain, spread_cell

__all__ = ["asked", "finding", "heading", "lead", "title", "warnings"]

KL = "kl_nats_clipped_0.001"


def title(sections: Sequence[Section]) -> str:
    """The headline of a page."""
    kinds = {section.kind for section in sections}
    if kinds == {"contracts"}:
        return "Do the reported probabilities agree, with each other and with the truth?"
    return "How close are the reported probabilities to the exact ones?"


def heading(section: Section) -> str:
    """What a section is about, in a few words."""
    task = section.task
    if section.kind == "contracts":
        return f"Cohort {task['cohort']}"
    shots = task["shots"]
    return f"{_sentence_case(_world(section))}, {task['setting']}, {_count(shots, 'demonstration')}"


def asked(section: Section) -> str:
    """How the requests of a section were asked, and what the words of its findings mean."""
    task = section.task
    draws = "" if section.draws == 1 else f" ({section.draws} draws of the task)"
    if section.kind == "contracts":
        return (
            f"{task['eligible']:,} requests about {task['roots']:,} worlds of four cells{draws}, in "
            f"{len(task['variants'])} kinds whose answers must agree with each other; the exact answer of each is "
            "known. TV is the mean total variation between the reported and the exact distribution, over worlds whose "
            "report is valid; brackets are 95\u00a0% intervals."
        )
    options = " or ".join(f"“{text}”" for text in task["options"].values())
    shots = f"after {_count(task['shots'], 'case')} with their outcomes" if task["shots"] else "without examples"
    how = "as the probability of an event" if task["interface"] == "event" else "as a choice of two"
    return (
        f"{task['cases']:,} cases{draws}, asked {how}, {shots}: “{task['question']}” The answer is {options}; given "
        "what a case shows, its exact probability is known. KL is the mean divergence of the exact probabilities from "
        "the valid reports, in nats, with reports clipped to [0.001, 0.999]. “Right” is the expected accuracy of the "
        "favoured answer."
    )


def finding(run: Scored) -> str:
    """What came out of one run."""
    return _contract_finding(run) if run.kind == "contracts" else _case_finding(run)


def lead(sections: Sequence[Section]) -> list[str]:
    """The first sentences of the page: what was asked of whom, and what came out."""
    found = []
    for section in sections:
        task, whom = section.task, _whom(section)
        draws = "" if section.draws == 1 else f"{section.draws} × "
        what = (
            f"{draws}{task['cases']:,} cases of {_world(section)} ({task['setting']}): “{task['question']}”"
            if section.kind == "cases"
            else f"{draws}{task['eligible']:,} linked questions about {task['roots']:,} worlds ({task['cohort']})."
        )
        found.append(f"{whom} asked {what} {_outcome(section)}".strip())
    return found


def warnings(section: Section) -> list[str]:
    """What a reader must know before the numbers."""
    found = []
    for run in section.runs:
        if run.collection["several_models"]:
            names = ", ".join(f"{model} ({count:,})" for model, count in run.collection["models"].items())
            found.append(f"{run.label}: more than one model answered: {names}. Its figures mix them.")
        missing = sum(run.collection["states"][state] for state in ("interrupted", "not-acquired", "unavailable"))
        if missing:
            found.append(f"{run.label}: {missing:,} of {run.collection['requests']:,} requests have no answer yet.")
        if section.kind == "contracts" and not section.task["estimated"]:
            found.append(f"{run.label}: this cohort is for development and is left out of estimates.")
    return found


def _whom(section: Section) -> str:
    models = len({(run.run["backend"], run.run["model"]) for run in section.runs if not run.is_reference})
    references = len({run.run["model"] for run in section.runs if run.is_reference})
    parts = [_count(n, noun) for n, noun in ((models, "model"), (references, "reference reporter")) if n]
    return f"{' and '.join(parts)} {'was' if models + references == 1 else 'were'}"


def _outcome(section: Section) -> str:
    """The closest model, or how the runs of a cohort fare; of reference reporters only where there are no models."""
    models = [run for run in section.runs if not run.is_reference] or list(section.runs)
    return _contract_outcome(models) if section.kind == "contracts" else _case_outcome(section, models)


def _contract_outcome(models: Sequence[Scored]) -> str:
    passing = [run.label for run in models if run.content["criterion"]["passes"]]
    scored = [run for run in models if run.figure("tv").finite is not None]
    best = min(scored, key=lambda run: run.figure("tv").value or 0.0, default=None)
    begin = "" if best is None else f"Closest to the exact distributions is {best.label}, with a TV of {_tv(best)}. "
    if len(models) == 1:
        begin = "" if best is None else f"The distributions of {best.label} have a TV of {_tv(best)}. "
        return f"{begin}Its answers {'meet' if passing else 'do not meet'} the criterion of coherence."
    return f"{begin}The criterion of coherence is met by {', '.join(passing) or 'none of them'}."


def _case_outcome(section: Section, models: Sequence[Scored]) -> str:
    groups = [group for group in configurations(section) if any(run in models for run in group)]
    ranked = [(spread([run.figure(KL) for run in group]), group) for group in groups]
    scored = [(kl, group) for kl, group in ranked if kl.mean is not None and math.isfinite(kl.mean)]
    if not scored:
        return "No answer was valid."
    kl, best = min(scored, key=lambda entry: entry[0].mean or 0.0)
    valid = f"{sum(run.collection['states']['valid'] for run in best):,} valid answers"
    several = f"Closest to the exact probabilities is {group_name(best)}: on its {valid}"
    begin = several if len(scored) > 1 else f"On the {valid} of {group_name(best)}"
    own, most = (_mean(best, name) for name in ("expected_accuracy", "bayes_accuracy_same_cases"))
    return (
        f"{begin}, the mean KL divergence is {spread_cell(kl).text} nats (reports clipped to [0.001, 0.999]), and the "
        f"answer that it favours is right {own} of the time, where {most} is the best possible."
    )


def _mean(group: Sequence[Scored], name: str) -> str:
    return percent(spread([run.figure(name) for run in group]).mean).text


def _case_finding(run: Scored) -> str:
    valid, requests = run.collection["states"]["valid"], run.collection["requests"]
    words = f"{valid:,} of {requests:,} answers valid"
    if not valid:
        return f"{words}; there is nothing to score."
    kl, unclipped = run.figure(KL), run.figure("kl_nats_unclipped")
    own, most = run.figure("expected_accuracy"), run.figure("bayes_accuracy_same_cases")
    infinite = f" (unclipped ∞: {unclipped.infinite:,} reports exclude what can happen)" if unclipped.infinite else ""
    right = f"right {percent(own.value).text}, of {percent(most.value).text} possible on the same cases"
    return f"{words}; KL {plain(kl.value)}{infinite}; {right}."


def _contract_finding(run: Scored) -> str:
    slots, criterion, pair = run.content["slots"]["all"], run.content["criterion"], run.figure("event_choice-pass")
    parts = [f"{slots['ended'].get('valid', 0):,} of {slots['eligible']:,} answers valid"]
    if run.figure("tv").value is not None:
        parts.append(f"TV {_tv(run)}")
    if pair.value is not None:
        parts.append(f"event and choice within 0.05 of each other in {percent(pair.value).text} of {pair.n:,} worlds")
    every = len(criterion["failed"]) == len(criterion["lower_bounds"]) + 1
    failed = "every part" if every else ", ".join(name.replace("_", " ") for name in criterion["failed"])
    parts.append("meets the criterion of coherence" if criterion["passes"] else f"fails the criterion in {failed}")
    return f"{'; '.join(parts)}."


def _tv(run: Scored) -> str:
    tv = run.figure("tv")
    return f"{_with_interval(tv)} (n\u00a0=\u00a0{tv.n:,})"


def _with_interval(number: Number) -> str:
    words = plain(number.value)
    return words if number.low is None else f"{words} [{plain(number.low)}, {plain(number.high)}]"


def _count(number: int, noun: str) -> str:
    return f"{'no' if number == 0 else f'{number:,}'} {noun}{'' if number == 1 else 's'}"


def _world(section: Section) -> str:
    return str(section.task["world"]).replace("-", " ")


def _sentence_case(words: str) -> str:
    return words[:1].upper() + words[1:]
