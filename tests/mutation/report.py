"""Writes what came out: how the mutants were chosen, what became of them by module, and every survivor."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from mutation.plan import RULES, Mutant, Plan
from mutation.run import Result
from mutation.settings import Module, Survivor

FATES = {
    "killed": "a test failed",
    "import": "the module or its tests could not be imported",
    "time": "the processor time was over",
    "crash": "the process or pytest itself failed",
    "survived": "survived",
}


class Stale(Exception):
    """Results or explanations do not belong to this source."""


def current(plan: Plan, results: Iterable[Result], modules: Mapping[str, Module]) -> dict[str, Result]:
    """The results of the planned mutants on the source as it is."""
    digests = {name: module.digest for name, module in modules.items()}
    found = {result.key: result for result in results}
    return {
        mutant.key: found[mutant.key]
        for mutant in plan.mutants
        if mutant.key in found and found[mutant.key].digest == digests[mutant.module]
    }


def report(
    plan: Plan, results: Mapping[str, Result], explained: list[Survivor], *, date: str, minutes: float, jobs: int
) -> str:
    """The whole report; `Stale` if an explanation is not needed."""
    survivors = [mutant for mutant in plan.mutants if results[mutant.key].fate == "survived"]
    why = {(entry.module, entry.before, entry.after): entry.why for entry in explained}
    needed = {(mutant.module, mutant.before, mutant.after) for mutant in survivors}
    if unneeded := sorted(key for key in why if key not in needed):
        raise Stale("survivors.toml explains what does not survive: " + "; ".join(map(str, unneeded)))
    open_ones = [mutant for mutant in survivors if (mutant.module, mutant.before, mutant.after) not in why]
    fates = Counter(result.fate for result in results.values())
    total, killed = len(plan.mutants), len(plan.mutants) - len(survivors)
    formulas = [mutant for mutant in plan.mutants if mutant.is_formula]
    killed_formulas = sum(results[mutant.key].fate != "survived" for mutant in formulas)
    lines = [
        "# Mutation testing: what came out",
        "",
        "Written by `PYTHONPATH=src:tests:. python -m mutation` (CONTRIBUTING.md says how); do not edit.",
        "",
        f"- {date}, Python {platform.python_version()}, cosmic-ray {version('cosmic-ray')}, "
        f"Hypothesis {version('hypothesis')} with the profile `mutation`",
        f"- seed {plan.seed}, {jobs} processes, {minutes:.0f} minutes of wall time, "
        f"{sum(result.seconds for result in results.values()) / 60:.0f} of processor time",
        f"- **{killed:,} of {total:,} mutants are killed, {killed / total:.1%}**, each by the tests of its own module "
        "(`modules.toml`)",
        f"- bare formulas: all mutants, {killed_formulas:,} of {len(formulas):,} killed, "
        f"{killed_formulas / len(formulas):.1%}",
        f"- survivors: {len(survivors)}, of which {len(survivors) - len(open_ones)} are explained and "
        f"{len(open_ones)} are open",
        "",
        "## How they were chosen",
        "",
        f"cosmic-ray's operators make {plan.possible:,} mutants of these modules. Left out by rule:",
        "",
        *(f"- {plan.left_out[rule]:,}: {text}" for rule, text in RULES.items()),
        "",
        f"Of the {plan.eligible:,} others, {plan.eligible_formulas:,} are in bare formulas and all run. The rest are a "
        f"sample of those outside, in an order drawn with the seed. {plan.no_python} of what was drawn is no Python or "
        "changes no line; the next ones were taken instead.",
        "",
        "## What became of them",
        "",
        *(f"- {fates[fate]:,}: {text}" for fate, text in FATES.items()),
        "",
        "| module | mutants | killed | share | formulas | killed |",
        "|---|---:|---:|---:|---:|---:|",
        *_rows(plan, results),
        "",
        "## Survivors",
        "",
    ]
    for mutant in survivors:
        reason = why.get((mutant.module, mutant.before, mutant.after), "**open**")
        lines += [f"`{mutant.module}`, line {mutant.line}, in `{mutant.function}`: {reason}", "", "```diff"]
        lines += [f"-{line}" for line in mutant.before.splitlines()]
        lines += [f"+{line}" for line in mutant.after.splitlines()]
        lines += ["```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _rows(plan: Plan, results: Mapping[str, Result]) -> Iterable[str]:
    by_module: dict[str, list[Mutant]] = {}
    for mutant in plan.mutants:
        by_module.setdefault(mutant.module, []).append(mutant)
    for name, mutants in by_module.items():
        counts = []
        for group in (mutants, [mutant for mutant in mutants if mutant.is_formula]):
            counts.append((len(group), sum(results[mutant.key].fate != "survived" for mutant in group)))
        (number, killed), (formulas, formulas_killed) = counts
        yield f"| `{name}` | {number} | {killed} | {killed / number:.0%} | {formulas} | {formulas_killed} |"
