"""Counts and checks answers that are rated good or bad."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import PlainError

if TYPE_CHECKING:
    from .builder import Examples
    from .prepared import Prepared


class Ratings(NamedTuple):
    """The number of good and of bad answers."""

    good: int
    bad: int


def ratings_of(examples: Examples) -> Ratings | None:
    """Returns the counts, or None if answers are not rated."""
    if examples.good is None:
        return None
    good = int(examples.good.sum())
    return Ratings(good, len(examples) - good)


def require_both_kinds(prepared: Prepared, file_path: str) -> None:
    """Raises PlainError if all training answers are good or all are bad: KTO needs both."""
    trained, held_out = ratings_of(prepared.train), ratings_of(prepared.held_out)
    if trained is None or (trained.good > 0 and trained.bad > 0):
        return
    kind, other = ("good", "bad") if trained.good else ("bad", "good")
    if held_out is not None and getattr(held_out, other) > 0:
        count = getattr(held_out, other)
        which = f"The only {other} answer is" if count == 1 else f"All {count} {other} answers are"
        raise PlainError(
            f"KTO learns from good and bad answers. {which} held out, so only "
            f"{kind} ones remain: add {other} ones, or choose a larger train/test split."
        )
    advice = ", or choose the objective SFT" if kind == "good" else ""
    raise PlainError(
        f"KTO learns from good and bad answers, but all answers of {Path(file_path).name} are "
        f"{kind}: add {other} ones{advice}."
    )


def held_out_warnings(prepared: Prepared) -> list[str]:
    """Returns a warning if all held-out answers have the same rating."""
    ratings = ratings_of(prepared.held_out)
    if ratings is None or len(prepared.held_out) == 0 or (ratings.good > 0 and ratings.bad > 0):
        return []
    kind = "good" if ratings.good else "bad"
    return [
        f"The held-out answers are all {kind}, so the run cannot measure whether it prefers "
        "good answers."
    ]
