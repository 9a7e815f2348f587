"""Judges mutants: each in a forked process that imports the broken source in place of the file's. Nothing is written.

The parent has loaded the libraries but nothing of the package, so a child needs a fraction of a second to start. The
limit is on processor time: a busy machine makes no mutant look like an endless loop.
"""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from mutation.plan import Mutant, mutated_source
from mutation.settings import ROOT, Module

LIBRARIES = (
    *("numpy", "mpmath", "attrs", "cattrs", "hypothesis", "jsonschema", "rich", "typer", "sympy"),
    *("scipy.stats", "scipy.special", "sklearn.metrics", "sklearn.calibration", "sklearn.neighbors", "scoringrules"),
)
MEMORY = 6 * 2**30
FATES = {0: "survived", 1: "killed", 2: "import"}
"""By pytest's exit code; anything else is a crash."""


@dataclass(frozen=True)
class Result:
    """What happened to a mutant of a source with this digest, and the test that noticed."""

    key: str
    digest: str
    fate: str
    test: str
    seconds: float


class _Broken(importlib.machinery.SourceFileLoader):
    """Finds one module, as an entry of `sys.meta_path`, and gives it another source."""

    def __init__(self, module: Module, source: str) -> None:
        super().__init__(module.name, str(module.path))
        self.source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return (
            importlib.util.spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None
        )

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


class _FirstFailure:
    """Runs first what noticed most mutants before, and remembers which test failed or could not be collected."""

    def __init__(self, noticed: Counter[str]) -> None:
        self.test, self.noticed = "", noticed

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: -self.noticed[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.test:
            self.test = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.test:
            self.test = report.nodeid


def load_libraries() -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # the children need not copy what they never collect
    if any(name.partition(".")[0] == "exactworlds" for name in sys.modules):
        raise RuntimeError("the package was imported before it was broken")


def _judge(module: Module, source: str | None, noticed: Counter[str], seconds: int, pipe: int) -> int:
    """In a process of its own: pytest's verdict, with the failing test written into a pipe."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    if source is not None:
        sys.meta_path.insert(0, _Broken(module, source))
    seen = _FirstFailure(noticed)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin", "--hypothesis-profile=mutation"]
    options += [f"--deselect={test}" for test in module.deselected]
    code = 0
    for tests in module.tests:  # one after the other: most mutants need no more than the first
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            code = int(pytest.main([*options, "--rootdir", str(ROOT), tests], plugins=[seen]))
        if code:
            break
    os.write(pipe, seen.test.encode()[:4000])
    return code


@dataclass
class _Child:
    module: Module
    mutant: Mutant | None
    pipe: int
    began: float


def run(
    modules: dict[str, Module],
    mutants: Sequence[Mutant],
    jobs: int,
    done: Callable[[Result], None],
    earlier: Iterable[Result] = (),
) -> None:
    """Runs the tests of each module as they are, then every mutant."""
    os.chdir(ROOT)
    load_libraries()
    wanted = {mutant.module for mutant in mutants}
    baseline: dict[str, float] = {}
    running: dict[int, _Child] = {}
    noticed: dict[str, Counter[str]] = defaultdict(Counter)
    for result in earlier:
        noticed[result.key.partition(" ")[0]][result.test] += 1

    def start(module: Module, mutant: Mutant | None, seconds: int) -> None:
        source = mutated_source(module, mutant.operator, mutant.occurrence) if mutant else None
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            code = 99
            try:
                code = _judge(module, source, noticed[module.name], seconds, writing)
            finally:
                os._exit(code)
        os.close(writing)
        running[process] = _Child(module, mutant, reading, time.monotonic())

    def collect() -> None:
        process, status, used = os.wait4(-1, 0)
        child = running.pop(process)
        with os.fdopen(child.pipe, encoding="utf-8", errors="replace") as pipe:
            test = pipe.read()
        seconds = used.ru_utime + used.ru_stime
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        if child.mutant is None:
            if code != 0:
                raise SystemExit(f"{child.module.name}: its tests fail although nothing is broken: {test} ({code})")
            baseline[child.module.name] = seconds
            return
        fate = "time" if code is None else FATES.get(code, "crash")
        noticed[child.module.name][test] += 1
        done(Result(child.mutant.key, child.module.digest, fate, test, round(seconds, 2)))

    def drain(limit: int) -> None:
        while len(running) >= limit:
            collect()

    for name in sorted(wanted):
        drain(jobs)
        start(modules[name], None, 600)
    drain(1)
    for mutant in mutants:
        drain(jobs)
        start(modules[mutant.module], mutant, 10 + int(2 * baseline[mutant.module]))
    drain(1)


def read_results(path: Path) -> Iterator[Result]:
    """Later lines stand for the mutant, so that a run can be continued."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Result(**json.loads(line))


def append_result(path: Path, result: Result) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")
