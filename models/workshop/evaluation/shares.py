"""Shares and their confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable

# The 95 % quantile of the normal distribution.
DEVIATIONS = 1.96


def share(which: Iterable[bool]) -> float:
    found = list(which)
    return sum(found) / len(found)


def interval(part: float, count: int) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a share of `count` cases."""
    spread = DEVIATIONS**2 / count
    middle = (part + spread / 2) / (1 + spread)
    half = (part * (1 - part) * spread + spread**2 / 4) ** 0.5 / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def share_with_interval(name: str, which: Iterable[bool]) -> dict[str, float]:
    """Returns the share as `name`, and its 95 % interval as `name_low` and `name_high`."""
    found = list(which)
    part = share(found)
    low, high = interval(part, len(found))
    return {name: part, f"{name}_low": low, f"{name}_high": high}
