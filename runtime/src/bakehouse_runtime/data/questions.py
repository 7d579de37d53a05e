"""What held-out examples ask, as it is shown beside the answers of models."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .turns import Turn

# Of so many of the first examples is kept what they ask, and of those that are held out so many are
# taken. Which ones these are is only known once all of the file has been read.
_KEPT = 512
_QUESTIONS_MAX = 5
_CHARACTERS = 2000


class Question(NamedTuple):
    """What a held-out example asks."""

    # Among the held-out ones.
    example: int
    # The last turn before the answer that is learnt last; None of a text.
    text: str | None
    # Turns of user and assistant before it.
    earlier_turns: int


class Questions:
    """What the first examples of a file ask, while it is read."""

    def __init__(self) -> None:
        self._asked: list[tuple[str | None, int] | None] = []

    def add(self, turns: list[Turn] | None, *, is_good: bool = True) -> None:
        """The next example: the turns before its last answer, or None of a text. Nobody is asked
        for an answer that is bad."""
        if len(self._asked) >= _KEPT:
            return
        if not is_good:
            self._asked.append(None)
            return
        contents = [turn.said for turn in turns or [] if turn.role != "system"]
        text = None if turns is None else "".join(contents[-1:])[:_CHARACTERS]
        self._asked.append((text, max(0, len(contents) - 1)))

    def of_held_out(self, examples: list[int]) -> list[Question]:
        """Of the held-out examples, which come by their numbers, the first in the file, each
        question once."""
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
    """The first of so many held-out pieces of a text."""
    return [Question(at, None, 0) for at in range(min(_QUESTIONS_MAX, held_out))]
