from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.reporter import Reporter
from bakehouse_runtime.serve import serving
from bakehouse_runtime.server_client import ServerClient

if TYPE_CHECKING:
    from collections.abc import Sequence


class Engine:
    """A fake engine with scripted checks."""

    base_url = "http://nowhere"

    def __init__(self, checks: list[bool], in_flight: Sequence[int | None] = ()) -> None:
        self.checks = checks
        self.requests = list(in_flight)

    def ended(self) -> str | None:
        return None

    def in_flight(self) -> int | None:
        return self.requests.pop(0)

    def advances(self) -> bool:
        return self.checks.pop(0)

    def close(self) -> None:
        raise AssertionError("not of interest here")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_CHECK_INTERVAL_S", 0)
    monkeypatch.setattr(serving, "_POLL_DRAINING_S", 0.01)


def check(engine: Engine, times: int) -> None:
    watchdog = serving._Watchdog(engine)
    for _ in range(times):
        watchdog.check()


def test_reports_an_engine_without_progress_as_hanging() -> None:
    with pytest.raises(PlainError, match="hangs"):
        check(Engine([False] * 40), 40)


def test_tolerates_a_temporarily_slow_engine() -> None:
    checks = [*[False] * 14, True, *[False] * 14]
    check(Engine(checks), len(checks))


@pytest.fixture
def reporter() -> Reporter:
    return Reporter(ServerClient("w-1", "http://nowhere", "token"))


def drain(engine: Engine, reporter: Reporter) -> None:
    serving._drain(engine, reporter, serving._Watchdog(engine))


def test_keeps_draining_while_the_engine_is_too_busy_to_report(reporter: Reporter) -> None:
    engine = Engine([True] * 9, [1, None, None, 1, 0, 1])
    reporter.request_stop()
    drain(engine, reporter)
    assert engine.requests == [1]


def test_a_second_stop_can_only_shorten_the_deadline(reporter: Reporter) -> None:
    reporter.request_stop(600)
    by = reporter.stop_by
    assert by > time.monotonic() + 590
    reporter.request_stop()
    assert reporter.stop_by < by - 580
    reporter.request_stop(600)
    assert reporter.stop_by < by - 580
    reporter.request_stop(0.05)
    drain(Engine([True] * 99, [1] * 99), reporter)
    assert time.monotonic() >= reporter.stop_by


def test_polls_a_slowly_loading_model_twice_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []

    class Waiting(Reporter):
        waited_s = 0.0

        def wait_for_stop(self, timeout_s: float) -> bool:
            self.waited_s += timeout_s
            if self.waited_s > 300:
                self.request_stop()
            return self.stop_requested

    reporter = Waiting(ServerClient("w-1", "http://nowhere", "token"))
    monkeypatch.setattr(serving, "answers", lambda _: looks.append(reporter.waited_s))
    serving._serve(Engine([]), reporter)
    # A small model is ready immediately.
    assert sum(waited < 0.2 for waited in looks) > 5
    assert sum(waited >= 10 for waited in looks) == pytest.approx(2 * 290, abs=5)


def test_ends_an_engine_that_hangs_while_draining(reporter: Reporter) -> None:
    reporter.request_stop(600)
    with pytest.raises(PlainError, match="hangs"):
        drain(Engine([False] * 40, [None] * 40), reporter)
