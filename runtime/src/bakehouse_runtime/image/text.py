"""Encodes prompts as the token states that the image models read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoTokenizer, BertModel, CLIPTextModel

from ..errors import PlainError
from ..files import SAFE_TOKENIZER, SAFE_WEIGHTS
from .model_files import load_text_model, loading
from .sentence_encoder import SENTENCE_WINDOW, sentence_encoder_folder

# The window that all-MiniLM-L6-v2 was trained with.
LONGEST_SENTENCE_WINDOW = 256

# Pads to the window, which models expect, or to the longest text.
Padding = Literal["max_length", "longest"]


@dataclass(frozen=True)
class TextStates:
    """Encoded prompts: one state per token, [prompts, window, size], and for Flux one vector per
    prompt, [prompts, size]. All in float32."""

    tokens: Tensor
    pooled: Tensor | None = None

    def to(self, place: torch.device | torch.dtype) -> TextStates:
        """Moves the states to a device, or converts their dtype."""
        return TextStates(
            self.tokens.to(place), None if self.pooled is None else self.pooled.to(place)
        )


def joined(texts: Sequence[TextStates]) -> TextStates:
    """Concatenates states of the same encoder."""
    pooled = [text.pooled for text in texts if text.pooled is not None]
    return TextStates(
        torch.cat([text.tokens for text in texts]), torch.cat(pooled) if pooled else None
    )


class TextEncoder(Protocol):
    """Turns prompts into states; an empty prompt means no prompt."""

    window: int
    size: int

    def encode(self, prompts: list[str]) -> TextStates:
        """Returns the states of the prompts; raises PlainError for a prompt longer than the
        window."""
        ...

    def length(self, prompt: str) -> int:
        """Returns the number of tokens of the prompt."""
        ...

    def to(self, device: torch.device) -> None: ...


def load_sentence_encoder(window: int) -> tuple[BertModel, Any]:
    """Loads all-MiniLM-L6-v2 in float32, and its tokenizer with a window of `window` tokens."""
    folder = sentence_encoder_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=window, **SAFE_TOKENIZER)
    model = BertModel.from_pretrained(folder, dtype=torch.float32, **SAFE_WEIGHTS)
    return model.eval(), tokenizer


class EncodedTexts:
    """Returns the states of prompts that were encoded before their encoder was freed, and fails for
    all other prompts. Each prompt was encoded alone, as in serving."""

    def __init__(self, encoder: TextEncoder, prompts: Sequence[str]) -> None:
        self.window = encoder.window
        self.size = encoder.size
        self._states = {prompt: encoder.encode([prompt]) for prompt in dict.fromkeys(prompts)}

    def encode(self, prompts: list[str]) -> TextStates:
        return joined([self._states[prompt] for prompt in prompts])

    def length(self, prompt: str) -> int:
        raise KeyError(prompt)

    def to(self, device: torch.device) -> None:
        self._states = {prompt: states.to(device) for prompt, states in self._states.items()}


class SentenceText:
    """Token states of all-MiniLM-L6-v2; positions after the prompt's end are zero."""

    size = 384

    def __init__(self, window: int = SENTENCE_WINDOW) -> None:
        self.window = window
        self.model, self.tokenizer = load_sentence_encoder(window)

    def to(self, device: torch.device) -> None:
        self.model.to(device)  # pyright: ignore[reportArgumentType]

    def encode(self, prompts: list[str]) -> TextStates:
        states = self._states(prompts)
        return TextStates(F.pad(states, (0, 0, 0, self.window - states.shape[1])))

    @torch.no_grad()
    def _states(self, texts: list[str]) -> Tensor:
        """Pads only to the longest text: later positions cost time and do not affect the states."""
        tokens = _tokens(self.tokenizer, texts, self.window, "longest").to(self.model.device)
        states = self.model(**tokens).last_hidden_state
        return states * tokens["attention_mask"][..., None]

    def length(self, prompt: str) -> int:
        return prompt_length(self.tokenizer, prompt)

    def sentences(self, texts: list[str]) -> Tensor:
        """Returns one unit vector per text, [texts, size]: the mean of its states, as in
        training."""
        states = self._states(texts)
        used = states.abs().sum(dim=-1, keepdim=True) > 0
        return F.normalize(states.sum(dim=1) / used.sum(dim=1), dim=-1)


class ClipText:
    """A CLIP text model's last hidden states over its whole window, as Paris reads them."""

    def __init__(self, encoder_folder: Path, tokenizer_folder: Path) -> None:
        if not tokenizer_folder.is_dir():
            raise PlainError(f"The folder {tokenizer_folder.name} of the model is missing.")
        with loading(f"The tokenizer in {tokenizer_folder.name}"):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(tokenizer_folder, **SAFE_TOKENIZER)
        self.model = load_text_model(CLIPTextModel, encoder_folder, torch.float32)
        self.window = int(self.model.config.max_position_embeddings)
        self.size = int(self.model.config.hidden_size)

    def to(self, device: torch.device) -> None:
        self.model.to(device)  # pyright: ignore[reportArgumentType]

    @torch.no_grad()
    def encode(self, prompts: list[str]) -> TextStates:
        tokens = _tokens(self.tokenizer, prompts, self.window).to(self.model.device)
        return TextStates(self.model(input_ids=tokens["input_ids"]).last_hidden_state.float())

    def length(self, prompt: str) -> int:
        return prompt_length(self.tokenizer, prompt)


def prompt_length(tokenizer: Any, prompt: str) -> int:
    """Returns the number of tokens of the prompt, including its start and end tokens."""
    return len(tokenizer(prompt)["input_ids"])


def check_prompt_length(tokenizer: Any, prompts: list[str], window: int) -> None:
    """Raises PlainError for a prompt that the model would truncate."""
    for prompt in prompts:
        count = prompt_length(tokenizer, prompt)
        if count > window:
            raise PlainError(
                f"The prompt is {count} tokens long, but this model reads at most {window}."
            )


def _tokens(
    tokenizer: Any, prompts: list[str], window: int, padding: Padding = "max_length"
) -> Any:
    check_prompt_length(tokenizer, prompts, window)
    length = window if padding == "max_length" else None
    return tokenizer(prompts, padding=padding, max_length=length, return_tensors="pt")
