"""The ledger: durable lines, one writer, a torn last line that is recognised, damage that is not overlooked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.collect.ledger_writer import LedgerWriter
from exactworlds.errors import InvalidSpec, UnreadableFile, UsageError
from exactworlds.files.ledger import Ledger, as_bytes, as_json, as_line, read_ledger

AT = "2026-01-01T00:00:00+00:00"


def intent(number: int) -> bytes:
    return as_line("intent", id=f"r{number}", key="00", attempt=1, at=AT)


def ids(file: Path) -> list[str]:
    return [entry.fields["id"] for entry in read_ledger(file) if entry.kind == "intent"]


@given(st.binary(max_size=80))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    assert as_bytes(as_json(data)) == data


@given(cut=st.integers(0, 200))
def test_a_file_cut_at_any_byte_loses_its_last_line_at_most_and_can_be_gone_on_with(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("cut") / "ledger.jsonl"
    lines = [intent(number) for number in range(4)]
    whole = b"".join(lines)
    kept = min(cut, len(whole))
    file.write_bytes(whole[:kept])
    complete = sum(len(b"".join(lines[: number + 1])) - 1 <= kept for number in range(4))
    assert ids(file) == [f"r{number}" for number in range(complete)]
    ledger = Ledger(file)
    ledger.mend(AT)
    ledger.write(intent(9))
    ledger.close()
    assert ids(file) == [*(f"r{number}" for number in range(complete)), "r9"]
    assert file.read_bytes().startswith(whole[:kept])


def test_a_second_writer_is_refused_also_from_another_process(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    ledger = Ledger(file)
    with pytest.raises(UsageError, match="another process"):
        Ledger(file)
    words = f"from pathlib import Path; from exactworlds.files.ledger import Ledger; Ledger(Path({str(file)!r}))"
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert "is being written by another process" in found.stderr
    ledger.close()
    Ledger(file).close()


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (b"{oops}\n", "not a JSON line"),
        (b'{"type":"intent","id":"r1"}\n', "found no at, attempt, key"),
        (b'{"type":"other"}\n', "found a line of the kind 'other'"),
        (b"[]\n", "kind None"),
        (b"\xff\n", "not a JSON line"),
        (b'{"type":"intent"\n' + as_line("torn", at=AT, bytes=3), "not a JSON line"),
    ],
)
def test_damage_is_an_error_with_its_line(damage: bytes, what: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(intent(0) + damage + intent(1))
    with pytest.raises(InvalidSpec) as caught:
        list(read_ledger(file))
    assert "line 2" in str(caught.value)
    assert what in str(caught.value)


def test_a_file_that_cannot_be_made_or_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="cannot be written"):
        Ledger(tmp_path / "none" / "ledger.jsonl")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        list(read_ledger(tmp_path / "none"))


def test_many_tasks_share_few_writes_and_every_line_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ledger.jsonl"
    ledger = Ledger(file)
    writes: list[int] = []
    plain = Ledger.write

    def counted(self: Ledger, lines: bytes) -> None:
        writes.append(lines.count(b"\n"))
        plain(self, lines)

    monkeypatch.setattr(Ledger, "write", counted)

    async def work() -> None:
        async with LedgerWriter(ledger) as writer:
            await asyncio.gather(*(writer.append(intent(number)) for number in range(500)))

    asyncio.run(work())
    ledger.close()
    assert sorted(ids(file)) == sorted(f"r{number}" for number in range(500))
    assert sum(writes) == 500
    assert len(writes) < 20


def test_what_was_handed_over_is_written_also_when_the_work_is_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    ledger = Ledger(file)

    async def work() -> None:
        async with LedgerWriter(ledger) as writer:
            waiting = [asyncio.ensure_future(writer.append(intent(number))) for number in range(10)]
            await asyncio.sleep(0)
            for one in waiting:
                one.cancel()

    asyncio.run(work())
    ledger.close()
    assert len(ids(file)) == 10


def test_a_full_disk_reaches_whoever_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def full(self: Ledger, lines: bytes) -> None:
        raise UnreadableFile(self.file, "cannot be written (No space left on device)")

    async def work() -> None:
        async with LedgerWriter(ledger) as writer:
            monkeypatch.setattr(Ledger, "write", full)
            with pytest.raises(UnreadableFile, match="No space"):
                await writer.append(intent(1))
            with pytest.raises(UnreadableFile, match="No space"):
                await writer.append(intent(2))
            monkeypatch.undo()

    asyncio.run(work())
    ledger.close()
