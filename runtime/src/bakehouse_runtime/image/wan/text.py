"""Encodes prompts for Wan with the code of Diffusers' pipelines."""

from __future__ import annotations

from typing import Any

import torch
from diffusers.pipelines.wan.pipeline_wan import WanPipeline

from ..sentence_encoder import SENTENCE_WINDOW
from ..text import (
    TextStates,
    check_prompt_length,
    load_sentence_encoder,
    prompt_length,
)


class WanText:
    """The text half of a Wan pipeline: states of a T5 encoder, zero after the prompt's end."""

    def __init__(self, pipeline: Any, window: int) -> None:
        self._pipeline = pipeline
        self.window = window
        self.size = int(pipeline.text_encoder.config.hidden_size)

    @classmethod
    def of_sentence_encoder(cls, window: int = SENTENCE_WINDOW) -> WanText:
        """Uses the installed sentence encoder instead of the T5, as the starter model does; both
        have the same interface."""
        model, tokenizer = load_sentence_encoder(window)
        pipeline = WanPipeline(
            tokenizer=tokenizer,
            text_encoder=model,  # pyright: ignore[reportArgumentType]
            vae=None,  # pyright: ignore[reportArgumentType]
            scheduler=None,  # pyright: ignore[reportArgumentType]
        )
        return cls(pipeline, window)

    @property
    def model(self) -> Any:
        return self._pipeline.text_encoder

    def to(self, device: torch.device) -> None:
        self._pipeline.text_encoder.to(device)

    def length(self, prompt: str) -> int:
        return prompt_length(self._pipeline.tokenizer, prompt)

    @torch.no_grad()
    def encode(self, prompts: list[str]) -> TextStates:
        check_prompt_length(self._pipeline.tokenizer, prompts, self.window)
        states, _ = self._pipeline.encode_prompt(
            prompt=prompts,
            do_classifier_free_guidance=False,
            max_sequence_length=self.window,
            device=self._pipeline.text_encoder.device,
        )
        return TextStates(states.float())
