"""The suite as pytest tests, one per case, each run in a worker process beside this one.

``pytest --pyargs lazycore.conformance --lazycore-backend NAME [-n JOBS] [-k …]``
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lazycore.conformance.case import Case, Outcome, Status
from lazycore.conformance.document import reproducer
from lazycore.conformance.running import Request, Session
from lazycore.conformance.survey import described, listed

_NO_BACKEND = "name the backend to prove: --lazycore-backend NAME"


def _request(config: pytest.Config) -> Request | None:
    name = config.getoption("lazycore_backend", None)
    if not name:
        return None
    options = (config.getoption(f"lazycore_{option}") for option in ("level", "sample"))
    level, sample = options
    return Request(name, level, sample, seconds=config.getoption("lazycore_timeout"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case."""
    if "case" in metafunc.fixturenames:
        request = _request(metafunc.config)
        cases = listed(request, described(request)) if request else []
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


@pytest.fixture(scope="session")
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """The worker that runs this process's cases."""
    wanted = _request(request.config)
    if wanted is None:
        pytest.skip(_NO_BACKEND)
    with Session(wanted) as opened:
        yield opened


def test_case(session: Session, case: Case) -> None:
    outcome: Outcome = session.run(case)
    if outcome.status in (Status.skipped, Status.unclaimed):
        pytest.skip(f"{outcome.status.value}: {outcome.message}")
    if outcome.status is Status.xfailed:
        pytest.xfail(outcome.message)
    if outcome.status.is_bad:
        pytest.fail(f"{outcome.message}\n{reproducer(session.request.backend, case)}", pytrace=False)
    unproven = outcome.claimed - outcome.executed
    assert not unproven, f"claimed, never executed: {', '.join(sorted(unproven))}"


def test_expected_failures_name_cases(session: Session) -> None:
    assert session.stale() == []
