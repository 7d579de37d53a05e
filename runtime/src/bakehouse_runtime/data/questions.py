"""The questions of held-out examples, shown next to the answers of models."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .turns import Turn

# Questions are stored for the first _KEPT examples, and up to _QUESTIONS_MAX of the held-out ones
# are shown. Which examples are held out is only known once the whole file is read.
_KEPT = 512
_QUESTIONS_MAX = 5
_CHARACTERS = 2000


class Question(NamedTuple):
    """The question of a held-out example."""

    # Index among the held-out examples.
    example: int
    # The last turn before the last trained answer; None for a text.
    text: str | None
    # Number of earlier user and assistant turns.
    earlier_turns: int


class Questions:
    """The questions of the first examples of a file, while it is read."""

    def __init__(self) -> None:
        self._asked: list[tuple[str | None, int] | None] = []

    def add(self, turns: list[Turn] | None, *, is_good: bool = True) -> None:
        """Adds the next example: the turns before its last answer, or None for a text. Skips the
        question of a bad answer."""
        if len(self._asked) >= _KEPT:
            return
        if not is_good:
            self._asked.append(None)
            return
        contents = [turn.said for turn in turns or [] if turn.role != "system"]
        text = None if turns is None else "".join(contents[-1:])[:_CHARACTERS]
        self._asked.append((text, max(0, len(contents) - 1)))

    def of_held_out(self, examples: list[int]) -> list[Question]:
        """Returns the distinct questions of the first held-out examples in file order."""
        early = nsmallest(_KEPT, ((number, at) for at, number in enumerate(examples)))
        found: dict[object, Question] = {}
        for number, at in early:
            if number >= len(self._asked):
                break
            asked = self._asked[number]
            if asked is None:
                continue
            text, earlier_turns = asked
            key = number if text is None else (" ".join(text.casefold().split()), earlier_turns)
            found.setdefault(key, Question(at, text, earlier_turns))
        return list(found.values())[:_QUESTIONS_MAX]


def text_questions(held_out: int) -> list[Question]:
    """Returns one entry for each of the first held-out pieces of a text."""
    return [Question(at, None, 0) for at in range(min(_QUESTIONS_MAX, held_out))]
