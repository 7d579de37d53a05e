"""Data files and their examples, for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.data.builder import Examples
from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.prepared import Prepared
from bakehouse_runtime.data.tokens import ModelTokens, read_model_tokens
from train_spec import data_spec

if TYPE_CHECKING:
    from pathlib import Path


def prepare(path: Path, model: Path, **changes: Any) -> Prepared:
    return prepare_examples(path, data_spec(path.name, **changes), read_model_tokens(model), 256)


def write_pairs(folder: Path, count: int) -> Path:
    path = folder / "pairs.jsonl"
    rows = [{"q": f"Which is number {i}?", "a": f"It is {i}."} for i in range(count)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def texts(examples: Examples, tokens: ModelTokens) -> list[str]:
    return [
        tokens.tokenizer.decode(examples.example(i).tolist(), skip_special_tokens=False)
        for i in range(len(examples))
    ]


def with_begin_token(model: Path, folder: Path, *, template: str | None) -> Path:
    """Returns the model with a tokenizer like Llama's, Mistral's or Gemma's: it adds the
    begin-of-text token unless disabled."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    folder.mkdir()
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    begin = tokenizer.token_to_id("<|im_start|>")
    tokenizer.post_processor = TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", begin)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((model / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": template}))
    return folder
