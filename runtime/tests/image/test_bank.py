"""Pictures as latents and captions as token states, kept in shards."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.text import LONGEST_SENTENCE_WINDOW, SentenceText
from bakehouse_runtime.image.training.bank import Bank, write_bank

from .line import Recorder
from .tiny import DrawnExamples


def test_bank_keeps_pictures_and_texts(drawn_bank: Bank) -> None:
    assert drawn_bank.latents.shape == (40, 4, 4, 4)
    assert drawn_bank.texts[0] == ""
    states = drawn_bank.states(torch.tensor([0, int(drawn_bank.text_of[5])]))
    assert states.shape == (2, 32, 384)
    used = (states.abs().sum(-1) > 0).sum(1).tolist()
    assert used[0] == 2, "an empty prompt is its two marks"
    assert 4 <= used[1] < 32
    assert drawn_bank.sources is None


def test_a_sentence_is_the_same_in_every_window_and_batch(sentences: SentenceText) -> None:
    wide, text = SentenceText(LONGEST_SENTENCE_WINDOW), "a red apple"
    (alone,) = sentences.sentences([text])
    torch.testing.assert_close(wide.sentences(["cat " * 40, text])[1], alone)
    with pytest.raises(PlainError, match=r"42 tokens long, .* at most 32\."):
        sentences.sentences(["cat " * 40])


def test_a_short_prompt_is_read_at_its_own_length(sentences: SentenceText) -> None:
    """Its states are those of the whole window, in which it is followed by nothing."""
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


def test_writing_a_bank_goes_on_where_it_was_stopped(
    tmp_path: Path,
    autoencoder: AutoencoderKL,
    sentences: object,
    drawn_bank: Bank,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bakehouse_runtime.image.training.bank.SHARD_EXAMPLES", 8)
    examples = DrawnExamples(40)
    stopped = Recorder(stop_after=2)
    assert not write_bank(tmp_path, examples, autoencoder, sentences, stopped)  # pyright: ignore[reportArgumentType]
    first = (tmp_path / "shard-00000.npz").stat().st_mtime_ns
    assert write_bank(tmp_path, examples, autoencoder, sentences, Recorder())  # pyright: ignore[reportArgumentType]
    assert (tmp_path / "shard-00000.npz").stat().st_mtime_ns == first
    torch.testing.assert_close(Bank(tmp_path).latents, drawn_bank.latents, atol=0.05, rtol=0.05)
