"""Compiles and runs a chat template within limits, and records the text that it marks as
generated."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ...confined import TEMPLATE_LIMIT_S
from ...errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from jinja2.runtime import Macro

    from ..segments import Span
    from ..tools import Tool
    from .template_messages import Message


class UntrainableTemplateError(Exception):
    """The reason why the template cannot render a conversation in a trainable way."""


class Written(NamedTuple):
    """A rendered conversation, and the spans marked by `{% generation %}`."""

    text: str
    generated: list[Span]


class JinjaTemplate:
    """A compiled chat template. Raises PlainError if it is invalid."""

    def __init__(self, source: str, special_tokens: dict[str, str], today: date) -> None:
        """`special_tokens` are the special tokens that templates can use by name."""
        self._special_tokens = special_tokens
        environment = _environment(today)
        self._generation = cast("_Generation", environment.extensions[_Generation.identifier])
        try:
            # Compiling evaluates constant expressions.
            with limited_time():
                self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise PlainError(f"The base model's chat template cannot be read: {error}.") from error

    @property
    def marks_answers(self) -> bool:
        """Returns whether the template marks generated text itself."""
        return self._generation.is_used

    def write(self, messages: list[Message], tools: Sequence[Tool], *, begin: bool) -> Written:
        """Renders a conversation in which `tools` may be called; `begin` opens the next answer.
        Raises UntrainableTemplateError."""
        generation = self._generation
        generation.blocks, generation.spans = [], []
        named = {"tools": list(tools)} if tools else {}
        try:
            for block in self._template.generate(
                messages=messages, add_generation_prompt=begin, **named, **self._special_tokens
            ):
                generation.blocks.append(block)
        except (jinja2.TemplateError, *_FAULTS) as error:
            raise UntrainableTemplateError(f"the chat template refuses it: {error}") from error
        return Written("".join(generation.blocks), generation.spans)


@contextmanager
def limited_time() -> Iterator[None]:
    """Kills this process if a template runs too long; `run_confined` reports the reason. A template
    may block even within one line of Python, so only the kernel can stop it. Counts the CPU time of
    this process alone, so a busy machine does not matter."""
    signal.setitimer(signal.ITIMER_VIRTUAL, TEMPLATE_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


# Errors of template code other than jinja2's own.
_FAULTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


class _Generation(Extension):
    """`{% generation %}` marks the assistant's text, as in Transformers."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own protocol

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        self.is_used = False
        # The rendered blocks, and the spans marked in them.
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


def _environment(today: date) -> ImmutableSandboxedEnvironment:
    """Returns an environment with the helpers that Transformers offers to chat templates."""

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    environment.filters["tojson"] = lambda value, **options: json.dumps(
        value, **{"ensure_ascii": False, **options}
    )
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = today.strftime
    return environment
