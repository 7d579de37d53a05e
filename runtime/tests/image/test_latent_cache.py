"""Tests the cache of pictures as latents and captions as token states, stored in shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.text import LONGEST_SENTENCE_WINDOW, SentenceText
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache

from .line import Recorder
from .tiny import DrawnExamples


def test_caches_pictures_and_texts(drawn_cache: LatentCache) -> None:
    assert drawn_cache.latents.shape == (40, 4, 4, 4)
    assert drawn_cache.texts[0] == ""
    states = drawn_cache.text(torch.tensor([0, int(drawn_cache.text_of[5])])).tokens
    assert states.shape == (2, 32, 384)
    used = (states.abs().sum(-1) > 0).sum(1).tolist()
    assert used[0] == 2, "an empty prompt is its two marks"
    assert 4 <= used[1] < 32
    assert drawn_cache.sources is None


def test_encodes_a_sentence_equally_in_every_window_and_batch(sentences: SentenceText) -> None:
    wide, text = SentenceText(LONGEST_SENTENCE_WINDOW), "a red apple"
    (alone,) = sentences.sentences([text])
    torch.testing.assert_close(wide.sentences(["cat " * 40, text])[1], alone)
    with pytest.raises(PlainError, match=r"42 tokens long, .* at most 32\."):
        sentences.sentences(["cat " * 40])


def test_encodes_a_short_prompt_at_its_own_length(sentences: SentenceText) -> None:
    """Its states are the same as in the whole window."""
    read: list[int] = []
    hook = sentences.model.register_forward_hook(
        lambda _, __, answer: read.append(answer.last_hidden_state.shape[1])
    )
    states = sentences.encode(["a red apple"]).tokens
    whole = sentences.tokenizer(["a red apple"], padding="max_length", return_tensors="pt")
    with torch.no_grad():
        wanted = sentences.model(**whole).last_hidden_state * whole["attention_mask"][..., None]
    hook.remove()
    assert read == [5, 32]
    torch.testing.assert_close(states, wanted, atol=1e-5, rtol=1e-4)


def test_resumes_writing_a_cache(
    tmp_path: Path,
    autoencoder: AutoencoderKL,
    sentences: SentenceText,
    drawn_cache: LatentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bakehouse_runtime.image.training.latent_cache.SHARD_EXAMPLES", 8)
    examples = DrawnExamples(40)
    family = Paris(autoencoder, sentences)
    stopped = Recorder(stop_after=2)
    assert not write_latent_cache(tmp_path, examples, family, stopped)
    first = (tmp_path / "shard-00000.npz").stat().st_mtime_ns
    assert write_latent_cache(tmp_path, examples, family, Recorder())
    assert (tmp_path / "shard-00000.npz").stat().st_mtime_ns == first
    torch.testing.assert_close(
        LatentCache(tmp_path).latents, drawn_cache.latents, atol=0.05, rtol=0.05
    )


def test_stores_the_weights_of_latents(
    tmp_path: Path, autoencoder: AutoencoderKL, sentences: SentenceText, drawn_cache: LatentCache
) -> None:
    drawn = DrawnExamples(3)
    weights = [np.full((4, 4), 1 + 2 * number) for number in range(3)]
    weighted = [replace(drawn[number], weights=weights[number]) for number in range(3)]
    assert write_latent_cache(tmp_path, weighted, Paris(autoencoder, sentences), Recorder())
    kept = LatentCache(tmp_path).weights
    assert kept is not None
    assert kept.dtype == torch.uint8
    assert kept.tolist() == np.stack(weights).tolist()
    assert drawn_cache.weights is None
