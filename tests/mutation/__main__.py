"""Makes the plan, runs what has no result yet, and writes the report.

    python -m mutation [--folder build/mutation] [--seed 1] [--sample 300] [--jobs 2] [--again] [--only MODULE …]

The plan and the results stay in the folder, so that a run can be stopped and continued. A result stands as long as the
source of its module is the same. `--again` runs the survivors once more, after tests were added: what the old tests
killed, they still kill. `--only` runs some modules and writes no report. Exit code 1 if a survivor is not explained or
fewer than 95 % are killed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time
from pathlib import Path

from mutation.plan import Plan, make_plan
from mutation.report import Stale, current, report
from mutation.run import Result, append_result, read_results, run
from mutation.settings import REPORT, ROOT, load_modules, load_survivors

ENOUGH = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=300, help="mutants outside of bare formulas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="run the survivors once more")
    parser.add_argument("--only", nargs="*", help="modules by their last name")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    modules = {module.name: module for module in load_modules()}
    plan = _plan(folder, arguments.seed, arguments.sample)
    results, times = folder / "results.jsonl", folder / "times.jsonl"
    known = current(plan, read_results(results), modules)
    work = [
        mutant
        for mutant in plan.mutants
        if (mutant.key not in known or (arguments.again and known[mutant.key].fate == "survived"))
        and (not arguments.only or mutant.module.rpartition(".")[2] in arguments.only)
    ]
    print(f"{len(plan.mutants)} mutants, {len(work)} to run", flush=True)
    lines = {mutant.key: f"{mutant.module}:{mutant.line} {mutant.before!r} → {mutant.after!r}" for mutant in work}
    began, count = time.monotonic(), 0

    def done(result: Result) -> None:
        nonlocal count
        count += 1
        append_result(results, result)
        if result.fate == "survived":
            print(f"survived  {lines[result.key]}", flush=True)
        if count % 100 == 0:
            print(f"{count} of {len(work)}, {time.monotonic() - began:.0f} s", flush=True)

    if work:
        try:
            run(modules, work, arguments.jobs, done, known.values())
        finally:
            with times.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"seconds": time.monotonic() - began, "mutants": count}) + "\n")
    if arguments.only:
        return
    known = current(plan, read_results(results), modules)
    minutes = sum(json.loads(line)["seconds"] for line in times.read_text(encoding="utf-8").splitlines()) / 60
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    try:
        text = report(plan, known, load_survivors(), date=today, minutes=minutes, jobs=arguments.jobs)
    except Stale as error:
        sys.exit(str(error))
    REPORT.write_text(text, encoding="utf-8")
    killed = sum(result.fate != "survived" for result in known.values())
    print(f"{killed} of {len(known)} are killed; {REPORT.relative_to(ROOT)} is written")
    if "**open**" in text or killed < ENOUGH * len(known):
        sys.exit(1)


def _plan(folder: Path, seed: int, sample: int) -> Plan:
    """The plan of the folder, if it is still one of this source, or a new one."""
    modules = load_modules()
    state = {"seed": seed, "sample": sample, "digests": {module.name: module.digest for module in modules}}
    kept, digests = folder / "plan.json", folder / "plan-of.json"
    if kept.exists() and digests.exists() and json.loads(digests.read_text(encoding="utf-8")) == state:
        return Plan.from_json(kept.read_text(encoding="utf-8"))
    plan = make_plan(modules, seed, sample)
    kept.write_text(plan.to_json(), encoding="utf-8")
    digests.write_text(json.dumps(state), encoding="utf-8")
    return plan


if __name__ == "__main__":
    main()
