"""A model's chat template: renders conversations, and marks the spans of the assistant."""

from __future__ import annotations

import json
import re
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..confined import TEMPLATE_LIMIT_S
from ..errors import PlainError
from .conversations import Rendered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from jinja2.runtime import Macro

    from .segments import Span
    from .turns import Turn


class TemplateRefusalError(Exception):
    """A conversation that the template cannot write so that it could be trained on, and why."""


class ChatTemplate:
    """A compiled chat template. Raises PlainError where it is no template."""

    def __init__(
        self,
        source: str,
        special_tokens: dict[str, str],
        today: date,
        turn_tokens: Iterable[str] = (),
    ) -> None:
        """`special_tokens` are those that have a name in templates, `turn_tokens` the others of the
        tokenizer, the one that ends a turn among them."""
        self._environment = _environment(today)
        self._special_tokens = special_tokens
        self._marks = tuple({*special_tokens.values(), *turn_tokens} - {""})
        self._mark = re.compile(
            "|".join(re.escape(mark) for mark in sorted(self._marks, key=len, reverse=True))
            or "(?!)"
        )
        try:
            # Compiling computes what is constant.
            with _limited_time():
                self._template = self._environment.from_string(source)
        except jinja2.TemplateError as error:
            raise PlainError(f"The base model's chat template cannot be read: {error}.") from error

    def render(self, turns: list[Turn]) -> Rendered:
        """Writes a conversation. Where the template says itself what the assistant generates, by
        `{% generation %}`, that is learnt; else what each answer adds to the text before it, its
        end-of-turn token included; an earlier answer that is written otherwise now than when it was
        the last is only read, and so is one that the file asks to be. Raises
        TemplateRefusalError, and ends the process where it takes longer than TEMPLATE_LIMIT_S."""
        with _limited_time():
            return self._render(turns)

    def prompt(self, messages: list[dict[str, str]]) -> str:
        """Writes a conversation up to where the next answer begins. As `render`, where it fails."""
        with _limited_time():
            return self._write(messages, begin=True)

    def _render(self, turns: list[Turn]) -> Rendered:
        messages = [{"role": turn.role, "content": turn.content} for turn in turns]
        whole = self._write(messages, begin=False)
        generation = _generation_of(self._environment)
        if generation.is_used:
            return self._rendered(whole, *_generated(turns, generation.spans))
        answers = [at for at, turn in enumerate(turns) if turn.is_learnt_answer]
        learnt: list[Span] = []
        learnt_turns: list[int] = []
        for at in answers:
            span = self._answer(messages, at, whole, learnt[-1][1] if learnt else 0)
            if span is not None:
                learnt.append(span)
                learnt_turns.append(at)
        is_rewritten = len(learnt) < len(answers)
        return self._rendered(whole, learnt, learnt_turns, is_rewritten=is_rewritten)

    def _rendered(
        self, whole: str, learnt: list[Span], turns: list[int], *, is_rewritten: bool = False
    ) -> Rendered:
        is_ended = all(whole[start:end].rstrip().endswith(self._marks) for start, end in learnt)
        return Rendered(whole, learnt, turns, is_rewritten, is_ended)

    def _answer(
        self, messages: list[dict[str, str]], at: int, whole: str, after: int
    ) -> Span | None:
        """Where in the whole text an answer stands that begins behind `after`, by writing the
        conversation up to it; None where an earlier one is rewritten once another turn follows."""
        is_last = at == len(messages) - 1
        prompt = self._write(messages[:at], begin=True) if at > 0 else ""
        if not whole.startswith(prompt):
            if not is_last:
                return None
            raise TemplateRefusalError(
                "the chat template asks for an answer in other words than it writes before this "
                "one (as where it has the model think first, and writes this answer without "
                "thoughts): the trained model would never be asked like this"
            )
        answered = whole if is_last else self._write(messages[: at + 1], begin=False)
        begin, end = len(prompt), _shared_length(answered, whole)
        is_after_question = at > 0 and messages[at - 1]["role"] != "assistant"
        read = messages[at - 1]["content"].strip() if is_after_question else ""
        # What opens an answer, such as <think>, may be asked for already.
        ends_behind = _end_of(messages[at]["content"], whole[after:end]) > len(
            _squeezed(whole[after:begin])
        )
        if read not in whole[after:begin] or not ends_behind:
            if not is_last:
                return None
            raise TemplateRefusalError(
                "the chat template changes the turns, so there is no telling which part to train on"
            )
        return begin, self._end_of_turn(whole, begin, end)

    def _end_of_turn(self, whole: str, begin: int, end: int) -> int:
        """Where an answer ends that is shared up to `end`, together with the token that ends its
        turn: a template may write another one, or none, at the end of a text alone."""
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

    def _write(self, messages: list[dict[str, str]], *, begin: bool) -> str:
        generation = _generation_of(self._environment)
        generation.blocks, generation.spans = [], []
        try:
            for block in self._template.generate(
                messages=messages, add_generation_prompt=begin, **self._special_tokens
            ):
                generation.blocks.append(block)
        except (jinja2.TemplateError, *_FAULTS) as error:
            raise TemplateRefusalError(f"the chat template refuses it: {error}") from error
        return "".join(generation.blocks)


def _generated(turns: list[Turn], spans: list[Span]) -> tuple[list[Span], list[int]]:
    """Of what a template marks as generated that which is learnt, with the numbers of its turns."""
    if not spans:
        raise TemplateRefusalError("the chat template marks nothing that is generated")
    answers = [at for at, turn in enumerate(turns) if turn.role == "assistant"]
    # A template may mark several parts of one answer, or only the later answers.
    first = len(answers) - len(spans)
    numbers = [answers[max(0, first + at)] for at in range(len(spans))]
    learnt = [
        (span, at) for span, at in zip(spans, numbers, strict=True) if turns[at].is_learnt_answer
    ]
    if first != 0 and len(learnt) < len(spans):
        raise TemplateRefusalError(
            "the chat template marks other parts than whole answers, so nobody could say which of "
            "them are only read"
        )
    return [span for span, _ in learnt], [at for _, at in learnt]


@contextmanager
def _limited_time() -> Iterator[None]:
    """A template is a program, and may never end, not even between two lines of Python: the system
    ends this process, and `run_confined` says why. Counts the time of this process alone, which
    others on a busy machine do not use up."""
    signal.setitimer(signal.ITIMER_VIRTUAL, TEMPLATE_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


# What the code of a template may raise besides the errors of jinja2.
_FAULTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


class _Generation(Extension):
    """`{% generation %}` marks what the assistant says; Transformers does the same."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own protocol

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        self.is_used = False
        # What has been written so far of the text that is being written, and what is marked in it.
        self.blocks: list[str] = []
        self.spans: list[Span] = []

    def parse(self, parser: Any) -> nodes.Node:
        self.is_used = True
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_note"), [], [], body).set_lineno(line)

    def _note(self, caller: Macro) -> str:
        text = caller()
        start = sum(len(block) for block in self.blocks)
        if text:
            self.spans.append((start, start + len(text)))
        return text


def _generation_of(environment: jinja2.Environment) -> _Generation:
    return cast("_Generation", environment.extensions[_Generation.identifier])


def _environment(today: date) -> ImmutableSandboxedEnvironment:
    """Offers to chat templates what Transformers offers."""

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.filters["tojson"] = lambda value, **options: json.dumps(
        value, ensure_ascii=False, **options
    )
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = today.strftime
    return environment


def _shared_length(one: str, other: str) -> int:
    """How many characters two texts share from their beginning."""
    if other.startswith(one):
        return len(one)
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _end_of(content: str, text: str) -> int:
    """How many characters that are no space stand in a text up to where the content ends, however
    both are spaced; 0 where it is not in there."""
    sought = _squeezed(content)
    at = _squeezed(text).rfind(sought)
    return 0 if at < 0 else at + len(sought)
