"""How fast cases are drawn and written, and how much memory it takes: `python tests/benchmarks/bench_cases.py [CASES]`.

Writes CASES (one million) cases of peer-review in a process of its own and reports its rate and peak memory; beside it
stand the exact draws alone, and a plain NumPy sampler of the same columns, which draws from rounded probabilities and
writes nothing. Nothing here is a test.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.memo.cases import CaseSource
from exactworlds.spec.bundled import find_world

BATCH = 10_000


def write_cases(cases: int, folder: Path) -> float:
    world, _ = find_world("peer-review")
    started = time.process_time()
    write_case_task(CaseTask(world, "low", "form", "1", cases, 0), folder / "task")
    return time.process_time() - started


def draw_exactly(cases: int) -> float:
    source = CaseSource(find_world("peer-review")[0], "low", "form", "1")
    started = time.process_time()
    for start in range(0, cases, BATCH):
        source.draw(start, BATCH)
    return time.process_time() - started


def draw_with_numpy(cases: int) -> float:
    """The same columns by `Generator.choice`: attributes, residual, fields and grid values, in floats."""
    world, _ = find_world("peer-review")
    generator = np.random.default_rng(1)
    laws = [np.array([float(n.value) for n in row]) for a in world.attributes for row in a.rows.values()]
    assert world.residual is not None
    laws.append(np.array([float(number.value) for number in world.residual.probabilities]))
    source = CaseSource(world, "low", "form", "1")
    sizes = [
        column.sizes if isinstance(column.sizes, int) else max(column.sizes.values())
        for column in source.template.columns
    ]
    started = time.process_time()
    for _ in range(0, cases, BATCH):
        for law in laws:
            generator.choice(len(law), BATCH, p=law / law.sum())
        for size in sizes:
            generator.integers(0, size, BATCH)
    return time.process_time() - started


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--write":
        with tempfile.TemporaryDirectory() as folder:
            seconds = write_cases(int(sys.argv[2]), Path(folder))
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    done = subprocess.run([sys.executable, __file__, "--write", str(cases)], capture_output=True, text=True, check=True)
    seconds, memory = (float(word) for word in done.stdout.split())
    exact, plain = draw_exactly(cases), draw_with_numpy(cases)
    print(f"{cases:,} cases of peer-review, low; CPU seconds\n")
    print("| what | CPU s | cases per s | peak memory |\n|---|---:|---:|---:|")
    rate = f"{cases / seconds:,.0f}"
    print(f"| task folder: draws, memos, requests and targets | {seconds:.1f} | {rate} | {memory:.0f} MB |")
    print(f"| exact draws alone, in columns | {exact:.2f} | {cases / exact:,.0f} | |")
    print(f"| plain NumPy sampler of the same columns (floats) | {plain:.2f} | {cases / plain:,.0f} | |")
    print(f"\nexact draws take {exact / plain:.1f} times a plain sampler; the bar is 300 MB for one million cases")


if __name__ == "__main__":
    main()
