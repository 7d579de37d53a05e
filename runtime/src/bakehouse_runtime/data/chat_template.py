"""A model's chat template: writes conversations, and says where in them the assistant speaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..errors import PlainError
from .conversations import Rendered

if TYPE_CHECKING:
    from datetime import date

    from jinja2.runtime import Macro

    from .conversations import Turn
    from .segments import Span


class TemplateRefusalError(Exception):
    """A conversation that the template cannot write so that it could be trained on, and why."""


class ChatTemplate:
    """A compiled chat template. Raises PlainError where it is no template."""

    def __init__(self, source: str, special_tokens: dict[str, str], today: date) -> None:
        self._environment = _environment(today)
        self._special_tokens = special_tokens
        try:
            self._template = self._environment.from_string(source)
        except jinja2.TemplateError as error:
            raise PlainError(f"The base model's chat template cannot be read: {error}.") from error

    def render(self, turns: list[Turn]) -> Rendered:
        """Writes a conversation. Where the template says itself what the assistant generates, by
        `{% generation %}`, that is learnt; else what each answer adds to the text before it, its
        end-of-turn token included. Raises TemplateRefusalError."""
        messages = [turn._asdict() for turn in turns]
        whole = self._write(messages, begin=False)
        generation = _generation_of(self._environment)
        if generation.is_used:
            if not generation.spans:
                raise TemplateRefusalError("the chat template marks nothing that is generated")
            return Rendered(whole, generation.spans)
        learnt: list[Span] = []
        for at, turn in enumerate(turns):
            if turn.role == "assistant":
                learnt.append(self._answer(messages, at, whole, learnt[-1][1] if learnt else 0))
        return Rendered(whole, learnt)

    def _answer(self, messages: list[dict[str, str]], at: int, whole: str, after: int) -> Span:
        """Where in the whole text an answer stands, by writing the conversation up to it.
        Whatever a template writes at the end of a text alone is not shared with the whole."""
        is_last = at == len(messages) - 1
        answered = whole if is_last else self._write(messages[: at + 1], begin=False)
        asked = self._write(messages[:at], begin=True) if at > 0 else ""
        begin, end = _shared_length(asked, answered), _shared_length(answered, whole)
        is_after_question = at > 0 and messages[at - 1]["role"] != "assistant"
        read = messages[at - 1]["content"].strip() if is_after_question else ""
        if (
            read not in whole[after:begin]
            or messages[at]["content"].strip() not in whole[begin:end]
        ):
            raise TemplateRefusalError(
                "the chat template writes this turn differently once another follows, so that "
                "nobody could say which part is learnt: only shorter conversations can be used"
                if not is_last
                else "the chat template changes the turns, so that nobody could say which part is "
                "learnt"
            )
        return begin, end

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


# What the code of a template may raise besides the errors of jinja2.
_FAULTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


class _Generation(Extension):
    """`{% generation %}` marks what the assistant says; Transformers notes it in the same way."""

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
