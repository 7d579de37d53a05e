from __future__ import annotations

from bakehouse_runtime.data.questions import Question, Questions, text_questions
from bakehouse_runtime.data.turns import Turn


def test_returns_the_first_held_out_examples_of_the_file() -> None:
    questions = Questions()
    for number in range(600):
        questions.add([Turn("system", "Be brief."), Turn("user", f"What is {number}?")])
    # Their numbers, in evaluation order.
    assert questions.of_held_out([40, 599, 3, 511, 512, 7]) == [
        Question(2, "What is 3?", 0),
        Question(5, "What is 7?", 0),
        Question(0, "What is 40?", 0),
        Question(3, "What is 511?", 0),
    ]
    assert questions.of_held_out([550, 580]) == []


def test_ignores_spelling_when_deduplicating_questions() -> None:
    questions = Questions()
    for text in ("Who bakes?", "who  bakes?", "Who eats?"):
        questions.add([Turn("user", text)])
    assert questions.of_held_out([1, 0, 2]) == [
        Question(1, "Who bakes?", 0),
        Question(2, "Who eats?", 0),
    ]


def test_uses_the_last_turn_of_a_conversation() -> None:
    questions = Questions()
    turns = [Turn("user", "Hi"), Turn("assistant", "Hello"), Turn("user", "a" * 3000)]
    questions.add(turns)
    questions.add([])
    questions.add(None)
    assert questions.of_held_out([0, 1, 2]) == [
        Question(0, "a" * 2000, 2),
        Question(1, "", 0),
        Question(2, None, 0),
    ]
    assert text_questions(2) == [Question(0, None, 0), Question(1, None, 0)]
