"""A model's tokenizer and chat template, read from its folder without Transformers or torch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from ..files import read_optional_object
from .templates.plain_template import plain_template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tokenizers import Encoding, Tokenizer

    from .conversations import Rendered
    from .templates.chat_template import ChatTemplate
    from .tools import Tool
    from .turns import Turn


@dataclass(frozen=True)
class ModelTokens:
    """The tokenizer, special tokens and chat template of a model."""

    tokenizer: Tokenizer
    special_tokens: dict[str, str]
    chat_template: str | None
    # The date with which chat templates are rendered.
    today: date

    @cached_property
    def text_prefix(self) -> list[int]:
        """Returns the tokens that the tokenizer puts before every text: the begin-of-text token or
        none."""
        begin = self.tokenizer.token_to_id(self.special_tokens.get("bos_token", ""))
        return [begin] if begin is not None and self.tokenizer.encode("").ids[:1] == [begin] else []

    @cached_property
    def text_suffix(self) -> list[int]:
        """Returns the tokens that end every text: the end-of-text token or none."""
        end = self.tokenizer.token_to_id(self.special_tokens.get("eos_token", ""))
        return [] if end is None else [end]

    def encode_batch(self, texts: list[str]) -> list[Encoding]:
        """Tokenises texts without adding special tokens."""
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def conversation(self, turns: list[Turn], tools: Sequence[Tool] = ()) -> Rendered:
        """Renders a conversation and marks the spans that count in the loss. Raises
        UntrainableTemplateError if the chat template cannot render it."""
        return self._template.render(turns, tools)

    def prompt(self, messages: list[dict[str, Any]]) -> str:
        """Renders a conversation up to the start of the next answer. Raises
        UntrainableTemplateError."""
        return self._template.prompt(messages)

    def question(self, turns: list[Turn], tools: Sequence[Tool]) -> str:
        """As `prompt`, for turns in which `tools` may be called."""
        return self._template.question(turns, tools)

    @cached_property
    def template_source(self) -> str:
        """Returns the model's own chat template, or the plain one."""
        if self.chat_template is not None:
            return self.chat_template
        return plain_template(begins=len(self.text_prefix) > 0)

    @cached_property
    def _template(self) -> ChatTemplate:
        from .templates.chat_template import ChatTemplate

        added = self.tokenizer.get_added_tokens_decoder().values()
        return ChatTemplate(
            self.template_source,
            self.special_tokens,
            self.today,
            [token.content for token in added if token.special],
        )


def read_model_tokens(folder: Path, today: str | None = None) -> ModelTokens:
    """Reads the tokenizer, its special tokens and the chat template of a model folder.

    `today` (e.g. 2026-11-20) is the date for chat templates that use it, so that a run resumed
    after midnight trains on the same tokens.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file():
        raise PlainError("The base model has no tokenizer.json.")
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # The library raises bare Exception.
        raise PlainError(f"The base model's tokenizer.json cannot be read: {error}.") from error
    # Truncation and padding are decided here, not by the saved settings of the tokenizer.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    config = read_optional_object(folder / "tokenizer_config.json")
    return ModelTokens(
        tokenizer,
        _named_tokens(folder, config, tokenizer),
        _chat_template(folder, config),
        date.fromisoformat(today) if today else datetime.now(UTC).date(),
    )


def _named_tokens(folder: Path, config: dict[str, Any], tokenizer: Tokenizer) -> dict[str, str]:
    """Returns the named special tokens. Older models store them in a separate file, and some, such
    as GPT-2, only have the id of the end-of-text token."""
    named = _special_tokens(
        read_optional_object(folder / "special_tokens_map.json")
    ) | _special_tokens(config)
    if "eos_token" not in named:
        ends = read_optional_object(folder / "config.json").get("eos_token_id")
        first = ends[0] if isinstance(ends, list) and ends else ends
        token = tokenizer.id_to_token(first) if isinstance(first, int) and first >= 0 else None
        if token is not None:
            named["eos_token"] = token
    return named


def _special_tokens(config: dict[str, Any]) -> dict[str, str]:
    """Returns `bos_token` and similar entries; older files wrap each in an object."""
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
