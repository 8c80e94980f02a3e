"""What a run has found so far, on disk: a line per case, so that a run that was killed can go on."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lazycore.conformance.case import Case, Outcome
from lazycore.conformance.survey import Request

__all__ = ["Journal", "NothingToResume"]

_NAME = "cases.jsonl"
_SCHEMA = 1


class NothingToResume(ValueError):
    """The folder has no run that could go on; the message says why."""


class Journal:
    """The lines of one run in ``folder``. ``begin`` or ``resume`` it, then ``add`` each case as it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._start = time.monotonic()
        self._before = 0.0
        self.done: dict[Case, Outcome] = {}

    def begin(self, request: Request, versions: Mapping[str, str]) -> None:
        """Forget what is in the folder, and note what this run is about."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(
            json.dumps({"schema": _SCHEMA, "request": _told(request), "versions": dict(versions)}) + "\n"
        )
        self._open()

    def resume(self, versions: Mapping[str, str]) -> None:
        """Read what an earlier process has found. Raises NothingToResume where other versions found it."""
        head, lines = self._read()
        differ = [name for name in {**head["versions"], **versions} if head["versions"].get(name) != versions.get(name)]
        if differ:
            was, now = ({name: of.get(name) for name in differ} for of in (head["versions"], versions))
            raise NothingToResume(f"{self._path} was written with {was}, this is {now}; begin anew, without --resume")
        for line in lines:
            case = Case(line.pop("level"), line.pop("id"))
            self._before = line.pop("at")
            self.done[case] = Outcome.of_record(line)
        with self._path.open("rb+") as file:
            file.truncate(file.read().rfind(b"\n") + 1)  # less a line that a kill has cut
        self._open()

    def request(self, jobs: int, seconds: float) -> Request:
        """What the run in the folder was asked for. Raises NothingToResume."""
        head, _ = self._read()
        return Request(**head["request"], jobs=jobs, seconds=seconds)

    def add(self, case: Case, outcome: Outcome) -> None:
        """Note a case that has ended."""
        self._file.write(json.dumps(self._record(case, outcome)) + "\n")
        self._file.flush()

    def seconds(self) -> float:
        """How long the run has taken, in all its processes."""
        return self._before + time.monotonic() - self._start

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def remove(self) -> None:
        """The run is through, and its reports are written."""
        self._path.unlink()

    def _open(self) -> None:
        self._file = self._path.open("a")

    def _record(self, case: Case, outcome: Outcome) -> dict[str, Any]:
        return {"id": case.id, "level": case.level, "at": round(self.seconds(), 2), **outcome.record()}

    def _read(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The head and the lines, less a last one that a kill has cut."""
        try:
            text = self._path.read_text()
        except OSError as error:
            raise NothingToResume(f"no unfinished run is in {self._path.parent}: {error}") from error
        whole = text[: text.rfind("\n") + 1].splitlines()
        try:
            head, *lines = [json.loads(line) for line in whole]
        except ValueError as error:
            raise NothingToResume(f"{self._path} is not what a run writes: {error}") from error
        if not isinstance(head, dict) or head.get("schema") != _SCHEMA:
            raise NothingToResume(f"{self._path} is of another release of lazycore")
        return head, lines


def _told(request: Request) -> dict[str, Any]:
    return {"backend": request.backend, "level": request.level, "sample": request.sample, "cases": request.cases}
