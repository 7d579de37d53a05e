"""Prompts as Flux reads them, by the pipelines' own code."""

from __future__ import annotations

from typing import Any

import torch
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline

from ..text import (
    SENTENCE_WINDOW,
    TextStates,
    check_prompt_length,
    load_sentence_encoder,
    prompt_length,
)


class FluxText:
    """The text half of a Flux pipeline: token states of one encoder, pooled output of the other."""

    def __init__(self, pipeline: Any, window: int) -> None:
        self._pipeline = pipeline
        self.window = window
        self.size = int(pipeline.text_encoder_2.config.hidden_size)

    @classmethod
    def of_sentence_encoder(cls, window: int = SENTENCE_WINDOW) -> FluxText:
        """The installed sentence encoder in both places, as the starter model takes it."""
        model, tokenizer = load_sentence_encoder(window)
        pipeline = FluxPipeline(
            scheduler=None,  # pyright: ignore[reportArgumentType]
            vae=None,  # pyright: ignore[reportArgumentType]
            transformer=None,  # pyright: ignore[reportArgumentType]
            text_encoder=model,  # pyright: ignore[reportArgumentType]
            text_encoder_2=model,  # pyright: ignore[reportArgumentType]
            tokenizer=tokenizer,
            tokenizer_2=tokenizer,
        )
        return cls(pipeline, window)

    def to(self, device: torch.device) -> None:
        self._pipeline.text_encoder.to(device)
        self._pipeline.text_encoder_2.to(device)

    def length(self, prompt: str) -> int:
        return prompt_length(self._pipeline.tokenizer_2, prompt)

    @torch.no_grad()
    def encode(self, prompts: list[str]) -> TextStates:
        check_prompt_length(self._pipeline.tokenizer_2, prompts, self.window)
        states, pooled, _ = self._pipeline.encode_prompt(
            prompt=prompts,
            prompt_2=None,
            device=self._pipeline.text_encoder_2.device,
            max_sequence_length=self.window,
        )
        return TextStates(states.float(), pooled.float())
