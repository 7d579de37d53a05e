"""The measures measure: they tell right from wrong on cases that are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image, ImageDraw

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.evaluation.edit_check import judge_edit
from bakehouse_runtime.image.evaluation.judge import Judge, caption_ranks, load_judge, train_judge
from bakehouse_runtime.image.evaluation.measure import (
    measure_kontext,
    measure_models,
    measure_paris,
    random_paris,
)
from bakehouse_runtime.image.evaluation.scenes import held_out_edits, held_out_prompts
from bakehouse_runtime.image.paris.pipeline import ParisRequest
from bakehouse_runtime.image.scenes.objects import CutOut
from bakehouse_runtime.image.scenes.scene import combinations, is_held_out
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.train.kontext.model import export_kontext

from .conftest import TINY_AUTOENCODER, TINY_EXPERT, TINY_ROUTER
from .line import SETTINGS, Recorder
from .test_kontext_pipeline import tiny_transformer


@pytest.fixture(scope="module")
def objects(cut_outs: list[CutOut]) -> list[CutOut]:
    """The drawn objects and the two hats that some edits put on."""
    crown, cap = (replace(cut_outs[-1], name=name) for name in ("crown", "graduation cap"))
    return [*cut_outs, crown, cap]


def test_prompts_are_new_and_fixed(objects: list[CutOut]) -> None:
    prompts = held_out_prompts(objects, 20)
    assert [p.text for p in prompts] == [p.text for p in held_out_prompts(objects, 20)]
    for prompt in prompts:
        assert any(is_held_out(*parts) for parts in combinations(prompt.scene, objects))
    first = {prompt.scene.things[0].cut_out for prompt in prompts[: len(objects)]}
    assert len(first) == len(objects), "every object has its turn"


def test_edits_are_new_and_of_every_kind(objects: list[CutOut]) -> None:
    edits = held_out_edits(objects, 20)
    assert len({edit.kind for edit, _ in edits}) == 10
    assert [e.instruction for e, _ in edits] == [
        e.instruction for e, _ in held_out_edits(objects, 20)
    ]


def circle(colour: str, ground: str = "white", width: int = 40) -> Image.Image:
    picture = Image.new("RGB", (64, 64), ground)
    box = (32 - width // 2, 32 - width // 2, 32 + width // 2, 32 + width // 2)
    ImageDraw.Draw(picture).ellipse(box, fill=colour)
    return picture


def test_an_edit_is_judged_by_what_it_changes_and_what_it_keeps() -> None:
    before, wanted = circle("red"), circle("blue")
    perfect = judge_edit(before, wanted, wanted)
    assert (perfect.remaining, perfect.disturbance) == (0, 0)
    nothing = judge_edit(before, wanted, before)
    assert nothing.remaining == pytest.approx(1)
    assert nothing.kept
    assert not nothing.done
    spoilt = judge_edit(before, wanted, circle("blue", ground="green"))
    assert spoilt.done
    assert not spoilt.kept
    smaller = judge_edit(before, circle("red", width=20), circle("red", width=22))
    assert smaller.done
    assert smaller.kept


def test_ranks_count_the_better_captions() -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 1.0], [0.9, 0.8, 0.7]])
    assert caption_ranks(scores).tolist() == [0, 1, 2]


def test_the_judge_learns_and_is_kept(
    tmp_path: Path,
    cut_outs: list[CutOut],
    sentences: SentenceText,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bakehouse_runtime.image.evaluation.judge.POOL_SCENES", 40)
    monkeypatch.setattr("bakehouse_runtime.image.evaluation.judge.EXAMINED_SCENES", 10)
    torch.manual_seed(1)
    judge, recorder = Judge(), Recorder()
    settings = replace(SETTINGS, steps=16, learning_rate=0.003, average_decay=0.7)
    assert train_judge(judge, cut_outs, sentences, settings, 16, tmp_path, recorder, "cpu")
    assert recorder.curve("loss")[-1] < recorder.curve("loss")[0]
    pictures, vectors = torch.randn(2, 3, 64, 64), torch.randn(3, 384)
    kept = load_judge(tmp_path / "judge.safetensors")
    torch.testing.assert_close(
        kept(pictures, vectors), judge(pictures, vectors), atol=0.05, rtol=0.05
    )


def test_figures_of_a_tiny_paris(paris_folder: Path, objects: list[CutOut]) -> None:
    figures = measure_paris(paris_folder, objects, Judge(), torch.device("cpu"), count=4)
    for name in ("real_pictures", "reconstructions", "untrained", "top1", "top2", "full"):
        assert 0 <= figures[f"{name}_top1"] <= figures[f"{name}_top5"] <= 1
    assert figures["top1_top5"] == 1, "with four captions every one is among five"
    assert figures["seconds_a_picture_top1"] > 0
    assert figures["peak_memory_mb"] > 50


def test_a_random_paris_of_any_shape_draws() -> None:
    paris = random_paris(TINY_EXPERT, TINY_ROUTER, (8, 8, 8, 8), torch.device("cpu"))
    assert paris.generate([ParisRequest("", 1, steps=2)])[0].picture.size == (32, 32)
    assert paris.experts[0].pos_embed.dtype == torch.bfloat16


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlainError, match="The data packages are missing"):
        measure_models(tmp_path, tmp_path / "none", 4)
    with pytest.raises(PlainError, match="The judge is missing"):
        measure_models(tmp_path, tmp_path, 4)


def test_figures_of_a_tiny_kontext(
    tmp_path: Path, objects: list[CutOut], autoencoder: torch.nn.Module
) -> None:
    assert TINY_AUTOENCODER.picture_side == 32
    export_kontext(tiny_transformer(), autoencoder, tmp_path, torch.float32)  # pyright: ignore[reportArgumentType]
    figures = measure_kontext(tmp_path, objects, torch.device("cpu"), count=2)
    assert 0 <= figures["edits_right"] <= min(figures["edits_done"], figures["edits_kept"])
    assert "edits_colour_right" in figures
    assert "reconstructions_right" in figures
