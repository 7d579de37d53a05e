"""A model's chat template: renders conversations, and marks the spans of the assistant."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from ..conversations import Rendered
from .jinja_template import JinjaTemplate, UntrainableTemplateError, limited_time
from .template_messages import messages_of
from .tool_template import add_tools, renders_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from ..segments import Span
    from ..tools import Tool
    from ..turns import Turn
    from .template_messages import Message

_CHANGED = "the chat template changes the turns, so there is no telling which part to train on"
_ASKED_OTHERWISE = (
    "the chat template asks for an answer in other words than it writes before this one (as where "
    "it has the model think first, and writes this answer without thoughts): the trained model "
    "would never be asked like this"
)
_NO_CALLS = "the chat template leaves out a call of an answer"
_NO_THOUGHTS = (
    "the chat template leaves out the thoughts of an answer: write them into the answer, for "
    "example between <think> and </think>"
)


class ChatTemplate:
    """A compiled chat template. Raises PlainError if it is invalid."""

    def __init__(
        self,
        source: str,
        special_tokens: dict[str, str],
        today: date,
        turn_tokens: Iterable[str] = (),
    ) -> None:
        """`special_tokens` are the named ones; `turn_tokens` are the tokenizer's other special
        tokens, including the end-of-turn token."""
        self._source, self._special_tokens, self._today = source, special_tokens, today
        self._template = JinjaTemplate(source, special_tokens, today)
        self._marks = tuple({*special_tokens.values(), *turn_tokens} - {""})
        self._mark = re.compile(
            "|".join(re.escape(mark) for mark in sorted(self._marks, key=len, reverse=True))
            or "(?!)"
        )

    @cached_property
    def _tool_template(self) -> JinjaTemplate:
        """The template for conversations with tools, also used in serving."""
        if renders_tools(self._source):
            return self._template
        return JinjaTemplate(add_tools(self._source), self._special_tokens, self._today)

    def render(self, turns: list[Turn], tools: Sequence[Tool] = ()) -> Rendered:
        """Renders a conversation in which `tools` may be called.

        Only some spans count in the loss. If the template marks generated text with `{% generation
        %}`, these spans do. Otherwise the spans are what each answer adds to the text before it,
        including its end-of-turn token. An earlier answer is excluded if it renders differently
        than when it was last, or if the file excludes it. Raises UntrainableTemplateError; kills
        the process after TEMPLATE_LIMIT_S.
        """
        with limited_time():
            return self._rendered(turns, _Writing(self._template_for(turns, tools), turns, tools))

    def prompt(self, messages: list[Message]) -> str:
        """Renders a conversation up to the start of the next answer. Fails as `render` does."""
        with limited_time():
            return self._template.write(messages, (), begin=True).text

    def question(self, turns: list[Turn], tools: Sequence[Tool]) -> str:
        """As `prompt`, for turns in which `tools` may be called."""
        with limited_time():
            template = self._template_for(turns, tools)
            return template.write(messages_of(turns), tools, begin=True).text

    def _template_for(self, turns: list[Turn], tools: Sequence[Tool]) -> JinjaTemplate:
        has_calls = any(turn.calls or turn.result_of for turn in turns)
        return self._tool_template if tools or has_calls else self._template

    def _rendered(self, turns: list[Turn], writing: _Writing) -> Rendered:
        whole = writing.whole.text
        answers = [at for at, turn in enumerate(turns) if turn.is_learnt_answer]
        learnt: list[Span] = []
        numbers: list[int] = []
        if writing.marks_answers:
            learnt, numbers = _generated(turns, writing.whole.generated, whole)
        else:
            for at in answers:
                span = self._answer(turns, at, writing, learnt[-1][1] if learnt else 0)
                if span is not None:
                    learnt.append(span)
                    numbers.append(at)
        is_rewritten = len(set(numbers)) < len(answers)
        is_ended = all(whole[start:end].rstrip().endswith(self._marks) for start, end in learnt)
        return Rendered(whole, learnt, numbers, is_rewritten, is_ended)

    def _answer(self, turns: list[Turn], at: int, writing: _Writing, after: int) -> Span | None:
        """Returns the span of an answer that begins after `after`, found by rendering the
        conversation up to it; None if the template renders the answer differently when another turn
        follows."""
        whole = writing.whole.text
        is_last = at == len(turns) - 1
        prompt = writing.up_to(at, begin=True) if at > 0 else ""
        if not whole.startswith(prompt):
            return _raise_rejection(_ASKED_OTHERWISE) if is_last else None
        answered = whole if is_last else writing.up_to(at + 1, begin=False)
        begin, end = len(prompt), _shared_length(answered, whole)
        # The prompt may already contain the opening of an answer, such as <think>.
        ends_behind = _end_of(_last_words(turns[at]), whole[after:end]) > len(
            _squeezed(whole[after:begin])
        )
        is_read = at == 0 or _is_read(turns[at - 1], whole[after:begin])
        if not is_read or not ends_behind:
            return _raise_rejection(_CHANGED) if is_last else None
        if reason := _left_out(turns[at], whole[begin:end]):
            return _raise_rejection(reason) if is_last else None
        return begin, self._end_of_turn(whole, begin, end)

    def _end_of_turn(self, whole: str, begin: int, end: int) -> int:
        """Extends an answer that ends at `end` by its end-of-turn token. A template may write a
        different token, or none, at the end of the whole text."""
        for mark in self._mark.finditer(whole, begin):
            if mark.start() < end < mark.end():
                end = mark.start()
            if mark.start() >= end:
                break
        if whole[begin:end].rstrip().endswith(self._marks):
            return end
        blank = len(whole[end:]) - len(whole[end:].lstrip())
        following = self._mark.match(whole, end + blank)
        return following.end() if following else end


class _Writing:
    """A conversation rendered by a template, whole and up to each of its turns."""

    def __init__(self, template: JinjaTemplate, turns: list[Turn], tools: Sequence[Tool]) -> None:
        self._template, self._tools = template, tools
        self._messages = messages_of(turns)
        self.whole = template.write(self._messages, tools, begin=False)
        self.marks_answers = template.marks_answers

    def up_to(self, count: int, *, begin: bool) -> str:
        return self._template.write(self._messages[:count], self._tools, begin=begin).text


def _raise_rejection(reason: str) -> NoReturn:
    raise UntrainableTemplateError(reason)


def _last_words(turn: Turn) -> str:
    """Returns the end of an answer that every template writes verbatim; for a call its name."""
    return turn.calls[-1].name if turn.calls else turn.content


def _is_read(turn: Turn, text: str) -> bool:
    """Returns whether the text contains the turn; results may be written as JSON."""
    said = turn.content.strip()
    in_json = json.dumps(said, ensure_ascii=False)[1:-1]
    return turn.role == "assistant" or said in text or (turn.role == "tool" and in_json in text)


def _left_out(turn: Turn, text: str) -> str | None:
    """Returns what the text omits of an answer: some templates write only one of several calls, and
    most omit thoughts."""
    calls = Counter(call.name for call in turn.calls)
    if any(text.count(name) < count for name, count in calls.items()):
        return _NO_CALLS
    return None if _squeezed(turn.thinking) in _squeezed(text) else _NO_THOUGHTS


def _generated(turns: list[Turn], spans: list[Span], whole: str) -> tuple[list[Span], list[int]]:
    """Returns the spans marked as generated that count in the loss, with their turn numbers."""
    if not spans:
        _raise_rejection("the chat template marks nothing that is generated")
    answers = [at for at, turn in enumerate(turns) if turn.role == "assistant"]
    # A template may mark several parts of one answer, or only the later answers.
    first = len(answers) - len(spans)
    numbers = [answers[max(0, first + at)] for at in range(len(spans))]
    learnt = [
        (span, at) for span, at in zip(spans, numbers, strict=True) if turns[at].is_learnt_answer
    ]
    if first != 0 and len(learnt) < len(spans):
        _raise_rejection(
            "the chat template marks other parts than whole answers, so nobody could say which of "
            "them are only read"
        )
    left_out = {at: _left_out(turns[at], _text_of(at, learnt, whole)) for _, at in learnt}
    if learnt and (reason := left_out[learnt[-1][1]]):
        _raise_rejection(reason)
    learnt = [(span, at) for span, at in learnt if left_out[at] is None]
    return [span for span, _ in learnt], [at for _, at in learnt]


def _text_of(number: int, learnt: list[tuple[Span, int]], whole: str) -> str:
    return "".join(whole[slice(*span)] for span, at in learnt if at == number)


def _shared_length(one: str, other: str) -> int:
    if other.startswith(one):
        return len(one)
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _end_of(content: str, text: str) -> int:
    """Returns how many non-space characters of the text precede the end of the content, ignoring
    spacing; 0 if the text does not contain it."""
    sought = _squeezed(content)
    at = _squeezed(text).rfind(sought)
    return 0 if at < 0 else at + len(sought)
