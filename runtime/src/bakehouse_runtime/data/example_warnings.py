"""Warnings about the split of the examples, and about parts that are not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..protocol import Objective
    from .formats import DataFormat


def in_rows(count: int) -> str:
    """Returns `1 row`, `2 rows`."""
    return "1 row" if count == 1 else f"{count} rows"


def split_warnings(held_out: int, otherwise: str, holds_out: bool) -> list[str]:
    """Returns a warning if nothing could be held out."""
    if held_out > 0 or not holds_out:
        return []
    return [f"{otherwise}, so nothing can be held out: the run has no evaluation loss."]


def repeat_warnings(repeated: int, data_format: DataFormat) -> list[str]:
    """Returns a warning if rows repeat a question, because rows with the same question are never
    split between training and held-out part."""
    if repeated == 0:
        return []
    repeats = "repeats" if repeated == 1 else "repeat"
    if data_format.format == "text":
        return [
            f"{in_rows(repeated)} {repeats} another row: rows with the same text are all trained "
            "on or all held out."
        ]
    return [
        f"{in_rows(repeated)} {repeats} the question of another row: rows with the same question "
        "are all trained on or all held out."
    ]


def objective_warnings(objective: Objective, data_format: DataFormat) -> list[str]:
    """Returns a warning if the objective ignores some answers."""
    if objective != "sft":
        return []
    if data_format.format == "feedback":
        return [
            "SFT learns only from the good answers: choose the objective KTO to learn from "
            "the bad ones too."
        ]
    if data_format.format == "preference":
        return [
            "SFT learns only from the better answers: choose the objective DPO to learn from "
            "the worse ones too."
        ]
    return []
