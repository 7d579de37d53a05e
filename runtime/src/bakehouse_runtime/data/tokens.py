"""A model's tokenizer and chat template, read from its folder without Transformers or torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from ..files import read_object

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2 import Template
    from tokenizers import Encoding, Tokenizer

Message = dict[str, str]


@dataclass(frozen=True)
class ModelTokens:
    """How a model reads text."""

    tokenizer: Tokenizer
    special_tokens: dict[str, str]
    chat_template: str | None
    # What chat templates are told is today.
    today: date

    @cached_property
    def text_prefix(self) -> list[int]:
        """What the tokenizer puts before every text: the begin-of-text token, or nothing."""
        begin = self.tokenizer.token_to_id(self.special_tokens.get("bos_token", ""))
        return [begin] if begin is not None and self.tokenizer.encode("").ids[:1] == [begin] else []

    def encode_batch(self, texts: list[str]) -> list[Encoding]:
        """Tokens of texts as they stand, with nothing put before or after them."""
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def dialogue(self, question: str, answer: str) -> tuple[str, str]:
        """The text that asks, up to where the model begins, and the text with the answer after it.

        A base model without a chat template sees question, line break, answer.
        """
        if self._template is None:
            asked = f"{question}\n"
            return asked, f"{asked}{answer}{self.special_tokens.get('eos_token', '')}"
        ask: Message = {"role": "user", "content": question}
        reply: Message = {"role": "assistant", "content": answer}
        return self._render([ask], begin=True), self._render([ask, reply], begin=False)

    def _render(self, messages: list[Message], *, begin: bool) -> str:
        from jinja2 import TemplateError

        assert self._template is not None
        try:
            return self._template.render(
                messages=messages, add_generation_prompt=begin, **self.special_tokens
            )
        except TemplateError as error:
            raise PlainError(f"The base model's chat template fails: {error}.") from error

    @cached_property
    def _template(self) -> Template | None:
        return None if self.chat_template is None else _compile(self.chat_template, self.today)


def read_model_tokens(folder: Path, today: str | None = None) -> ModelTokens:
    """Reads `tokenizer.json`, `tokenizer_config.json` and the chat template of a model folder.

    `today` (e.g. 2026-11-20) is the date for a chat template that asks for it: a run that goes on
    after midnight must not train on other tokens than before.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file():
        raise PlainError("The base model has no tokenizer.json.")
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # The library raises bare Exception.
        raise PlainError(f"The base model's tokenizer.json cannot be read: {error}.") from error
    # Cutting and filling are decided here, not by what the tokenizer was saved with.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    config = read_json(folder / "tokenizer_config.json")
    return ModelTokens(
        tokenizer,
        _special_tokens(config),
        _chat_template(folder, config),
        date.fromisoformat(today) if today else datetime.now(UTC).date(),
    )


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file of the base model; empty where there is no such file."""
    return read_object(file) if file.is_file() else {}


def _special_tokens(config: dict[str, Any]) -> dict[str, str]:
    """`bos_token` and its like; older files wrap each in an object."""
    found: dict[str, str] = {}
    for key, value in config.items():
        content = value.get("content") if isinstance(value, dict) else value
        if key.endswith("_token") and isinstance(content, str):
            found[key] = content
    return found


def _chat_template(folder: Path, config: dict[str, Any]) -> str | None:
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    template = config.get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template}
        template = named.get("default")
    return template if isinstance(template, str) else None


def _compile(source: str, today: date) -> Template:
    """Compiles a chat template with what Transformers offers to templates."""
    import jinja2
    from jinja2 import nodes
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}` marks what the assistant says; here it is only text."""

        tags = {"generation"}  # noqa: RUF012 - jinja2's own protocol

        def parse(self, parser: Any) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
    environment.filters["tojson"] = lambda value, **options: json.dumps(
        value, ensure_ascii=False, **options
    )
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = today.strftime
    try:
        return environment.from_string(source)
    except jinja2.TemplateError as error:
        raise PlainError(f"The base model's chat template cannot be read: {error}.") from error
