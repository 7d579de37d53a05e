"""Encodes prompts for Flux with the code of Diffusers' pipelines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline

from ..sentence_encoder import SENTENCE_WINDOW
from ..text import (
    TextStates,
    check_prompt_length,
    load_sentence_encoder,
    prompt_length,
)

_CUT = "The following part of your input was truncated"


class FluxText:
    """The text half of a Flux pipeline: token states of one encoder, pooled output of the other.
    The first encoder reads the whole prompt; CLIP, the second encoder of the published model, its
    first 77 tokens."""

    def __init__(self, pipeline: Any, window: int) -> None:
        self._pipeline = pipeline
        self.window = window
        self.size = int(pipeline.text_encoder_2.config.hidden_size)

    @classmethod
    def of_sentence_encoder(cls, window: int = SENTENCE_WINDOW) -> FluxText:
        """Uses the installed sentence encoder for both encoders, as the starter model does."""
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
        with prompts_unlogged(self._pipeline):
            states, pooled, _ = self._pipeline.encode_prompt(
                prompt=prompts,
                prompt_2=None,
                device=self._pipeline.text_encoder_2.device,
                max_sequence_length=self.window,
            )
        return TextStates(states.float(), pooled.float())


@contextmanager
def prompts_unlogged(pipeline: Any) -> Iterator[None]:
    """Hides the pipeline's warnings that quote the part of a prompt that CLIP truncates: prompts
    must not be logged."""

    def quotes_nobody(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(_CUT)

    log = logging.getLogger(type(pipeline).__module__)
    log.addFilter(quotes_nobody)
    try:
        yield
    finally:
        log.removeFilter(quotes_nobody)
