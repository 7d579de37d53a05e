"""Shares, and how exact they are."""

from __future__ import annotations

from collections.abc import Iterable

# Of the normal distribution, for 95%.
DEVIATIONS = 1.96


def share(which: Iterable[bool]) -> float:
    found = list(which)
    return sum(found) / len(found)


def interval(part: float, count: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share that was counted on so many."""
    spread = DEVIATIONS**2 / count
    middle = (part + spread / 2) / (1 + spread)
    half = (part * (1 - part) * spread + spread**2 / 4) ** 0.5 / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def share_with_interval(name: str, which: Iterable[bool]) -> dict[str, float]:
    """The share as `name`, and its 95% interval as `name_low` and `name_high`."""
    found = list(which)
    part = share(found)
    low, high = interval(part, len(found))
    return {name: part, f"{name}_low": low, f"{name}_high": high}
