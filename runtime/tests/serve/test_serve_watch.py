from __future__ import annotations

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.serve import serving


class Engine:
    """An engine that advances as often as it is told to."""

    base_url = "http://nowhere"

    def __init__(self, looks: list[bool]) -> None:
        self.looks = looks

    def ended(self) -> str | None:
        return None

    def in_flight(self) -> int:
        return 1

    def advances(self) -> bool:
        return self.looks.pop(0)

    def close(self) -> None:
        raise AssertionError("not of interest here")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_LOOK_EVERY_S", 0)


def look(engine: Engine, times: int) -> None:
    watch = serving._Watch(engine)
    for _ in range(times):
        watch.look()


def test_an_engine_that_does_not_advance_for_long_hangs() -> None:
    with pytest.raises(PlainError, match="hangs"):
        look(Engine([False] * 40), 40)


def test_one_that_is_slow_for_a_while_does_not() -> None:
    looks = [*[False] * 14, True, *[False] * 14]
    look(Engine(looks), len(looks))
