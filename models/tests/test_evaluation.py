"""The measures measure: they tell right from wrong on cases that are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageFilter
from safetensors.torch import save_file
from torch import Tensor

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import ParisRequest
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.train.kontext.model import export_kontext
from image.line import SETTINGS, Recorder
from image.tiny import TINY_AUTOENCODER, TINY_EXPERT, TINY_ROUTER, tiny_transformer
from workshop.evaluation.cost import random_paris, seconds_of_flux_steps
from workshop.evaluation.edit_check import judge_edit
from workshop.evaluation.held_out import (
    held_out_edits,
    held_out_prompts,
    swapped_captions,
)
from workshop.evaluation.judge import Judge, caption_ranks, load_judge
from workshop.evaluation.measure import (
    PromptFit,
    measure_kontext,
    measure_models,
    measure_paris,
)
from workshop.scenes.edits import EDITS, Edit
from workshop.scenes.grounds import Ground
from workshop.scenes.objects import CutOut
from workshop.scenes.scene import combinations, is_held_out, render
from workshop.train_judge import train_judge


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


def test_a_swapped_caption_differs_in_one_thing(objects: list[CutOut]) -> None:
    prompts = held_out_prompts(objects, 40)
    kinds = set()
    for prompt in prompts:
        swapped = swapped_captions(prompt, objects)
        assert swapped == swapped_captions(prompt, objects)
        assert prompt.text not in swapped.values()
        kinds |= set(swapped)
        if "colour" in swapped:
            words = zip(prompt.text.split(), swapped["colour"].split(), strict=True)
            # Beside the colour at most the article before it.
            assert 1 <= sum(one != other for one, other in words) <= 2
    assert kinds == {"colour", "side", "relation", "second_object", "ground"}


def shaded(name: str, seed: int) -> CutOut:
    """A round object with shading and a pattern of its own, alike in no direction."""
    rng = np.random.default_rng(seed)
    side = 80
    down, across = np.mgrid[0:side, 0:side] / side
    patches = np.kron(rng.uniform(0.3, 1, (5, 5)), np.ones((16, 16)))
    light = patches * (0.6 + 0.4 * across * (1 - down))
    colour = rng.permutation([1.0, 0.45, 0.2])
    alpha = ((down - 0.5) ** 2 + (across - 0.5) ** 2 < 0.25)[..., None]
    rgba = np.concatenate([light[..., None] * colour, alpha], axis=-1)
    pixels = Image.fromarray((255 * rgba).astype(np.uint8))
    return CutOut(name, (), "Objects", pixels, recolourable=True)


@pytest.fixture(scope="module")
def shaded_objects() -> list[CutOut]:
    names = ("ball", "box", "tree", "car", "top hat", "crown", "graduation cap")
    return [shaded(name, seed) for seed, name in enumerate(names)]


# Makes a picture of (before, wanted) that should not pass for the edit.
Cheat = Callable[[Image.Image, Image.Image], Image.Image]


def filled_flat(before: Image.Image, wanted: Image.Image) -> Image.Image:
    a, b = np.asarray(before).copy(), np.asarray(wanted)
    changed = np.abs(b.astype(float) - a).mean(axis=-1) > 10
    a[changed] = b[changed].mean(axis=0)
    return Image.fromarray(a)


CHEATS: dict[str, Cheat] = {
    "nothing": lambda before, _: before,
    "cross-fade": lambda before, wanted: Image.blend(before, wanted, 0.55),
    "flat": filled_flat,
    "blur": lambda _, wanted: wanted.filter(ImageFilter.GaussianBlur(8)),
}
# Their wanted grounds are flat themselves: one flat colour is what was asked for.
FLAT_WANTED = {"ground colour", "no ground"}
EDIT_SIDE = 128


def edits_of_every_kind(cut_outs: list[CutOut]) -> list[Edit]:
    return [edit for edit, _ in held_out_edits(cut_outs, 3 * len(EDITS))]


def test_the_wanted_picture_and_a_soft_one_are_right(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        wanted = render(edit.after, shaded_objects, EDIT_SIDE)
        soft = wanted.filter(ImageFilter.GaussianBlur(1.5))
        assert judge_edit(edit, shaded_objects, wanted).right, edit.kind
        assert judge_edit(edit, shaded_objects, soft).right, edit.kind


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_seen_through(name: str, shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if name == "flat" and edit.kind in FLAT_WANTED:
            continue
        before, wanted = (render(s, shaded_objects, EDIT_SIDE) for s in (edit.before, edit.after))
        verdict = judge_edit(edit, shaded_objects, CHEATS[name](before, wanted))
        assert not verdict.right, edit.kind


def test_an_object_that_is_gone_or_another_is_seen(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        gone = replace(edit.after, things=())
        assert not judge_edit(
            edit, shaded_objects, render(gone, shaded_objects, EDIT_SIDE)
        ).object_kept
        thing, *others = edit.after.things
        strange = replace(thing, cut_out=(thing.cut_out + 1) % len(shaded_objects))
        another = replace(edit.after, things=(strange, *others))
        assert not judge_edit(
            edit, shaded_objects, render(another, shaded_objects, EDIT_SIDE)
        ).object_kept


def test_object_and_ground_are_judged_apart(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        gone = replace(edit.after, things=())
        verdict = judge_edit(edit, shaded_objects, render(gone, shaded_objects, EDIT_SIDE))
        assert verdict.ground_kept
        elsewhere = replace(edit.after, ground=Ground("at night", 1))
        if edit.before.ground == edit.after.ground != elsewhere.ground:
            picture = render(elsewhere, shaded_objects, EDIT_SIDE)
            assert not judge_edit(edit, shaded_objects, picture).ground_kept


def test_another_colour_than_the_wanted_is_not_it(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind == "colour":
            (thing,) = edit.after.things
            colour = "green" if thing.colour in ("blue", "purple") else "blue"
            wrong = replace(edit.after, things=(replace(thing, colour=colour),))
            picture = render(wrong, shaded_objects, EDIT_SIDE)
            assert not judge_edit(edit, shaded_objects, picture).done


def test_smaller_and_bigger_do_not_say_by_how_much(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind in ("smaller", "bigger"):
            (thing,) = edit.after.things
            for part, right in ((0.93, True), (1.07, True), (0.6, False), (1.5, False)):
                sized = replace(thing, width=thing.width * part)
                picture = render(replace(edit.after, things=(sized,)), shaded_objects, EDIT_SIDE)
                assert judge_edit(edit, shaded_objects, picture).right is right


def test_a_small_shift_and_another_shade_are_no_mistakes(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind not in ("place", "ground colour"):
            continue
        (thing,) = edit.after.things
        moved = replace(thing, x=thing.x + 0.015, y=thing.y - 0.015)
        ground = replace(edit.after.ground, seed=edit.after.ground.seed + 1)
        other = replace(edit.after, things=(moved,), ground=ground)
        assert judge_edit(edit, shaded_objects, render(other, shaded_objects, EDIT_SIDE)).right


def test_ranks_count_the_better_captions() -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 1.0], [0.9, 0.8, 0.7]])
    assert caption_ranks(scores).tolist() == [0, 1, 2]


def test_ties_and_scores_that_are_no_numbers_count_against() -> None:
    nan = float("nan")
    assert caption_ranks(torch.zeros(3, 3)).tolist() == [2, 2, 2]
    scores = torch.tensor([[nan, 1.0, 2.0], [nan, 4.0, nan], [nan, nan, nan]])
    assert caption_ranks(scores).tolist() == [2, 0, 2]


def test_a_damaged_judge_is_said(tmp_path: Path) -> None:
    damaged = tmp_path / "judge.safetensors"
    damaged.write_bytes(b"no weights")
    with pytest.raises(PlainError, match=r"^The judge cannot be loaded: .+\.$"):
        load_judge(damaged)
    save_file({"text.weight": torch.zeros(2, 2)}, damaged)
    with pytest.raises(PlainError, match=r"^The judge cannot be loaded: .+\.$"):
        load_judge(damaged)


def test_pictures_are_told_from_swapped_captions(
    objects: list[CutOut], sentences: SentenceText
) -> None:
    """A judge that sees the caption itself prefers it always; one that sees nothing, never."""
    prompts = held_out_prompts(objects, 8)
    pictures = [render(prompt.scene, objects, 64) for prompt in prompts]
    vectors = sentences.sentences([prompt.text for prompt in prompts])

    class Knows(Judge):
        def forward(self, pictures: Tensor, sentences: Tensor) -> Tensor:
            return vectors @ sentences.T

    class Blind(Judge):
        def forward(self, pictures: Tensor, sentences: Tensor) -> Tensor:
            return torch.zeros(len(pictures), len(sentences))

    knows = PromptFit(Knows(), prompts, objects, sentences).against_swaps(pictures)
    blind = PromptFit(Blind(), prompts, objects, sentences).against_swaps(pictures)
    assert set(knows.values()) == {1.0}
    assert set(blind.values()) == {0.0}
    assert "swaps" in knows


def test_the_judge_learns_and_is_kept(
    tmp_path: Path,
    cut_outs: list[CutOut],
    sentences: SentenceText,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workshop.train_judge.POOL_SCENES", 40)
    monkeypatch.setattr("workshop.train_judge.EXAMINED_SCENES", 10)
    torch.manual_seed(1)
    judge, recorder = Judge(), Recorder()
    settings = replace(SETTINGS, steps=20, learning_rate=0.001, average_decay=0.7)
    assert train_judge(judge, cut_outs, sentences, settings, 16, tmp_path, recorder, "cpu")
    assert recorder.curve("loss")[-1] < 0.5 * recorder.curve("loss")[0]
    assert not list(tmp_path.glob("*.partial"))
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
    for name in ("real_pictures_swaps", "top1_swaps"):
        assert 0 <= figures[name] <= 1
    assert figures["seconds_a_picture_top1"] > 0
    assert figures["peak_memory_mb"] > 50


def test_a_random_paris_of_any_shape_draws() -> None:
    paris = random_paris(TINY_EXPERT, TINY_ROUTER, (8, 8, 8, 8), torch.device("cpu"))
    assert paris.generate([ParisRequest("", 1, steps=2)])[0].picture.size == (32, 32)
    assert paris.experts[0].pos_embed.dtype == torch.bfloat16


def test_steps_of_a_flux_of_any_shape_are_timed() -> None:
    assert seconds_of_flux_steps(tiny_transformer(), latent_side=4, window=3) > 0


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
    figures = measure_kontext(tmp_path, objects, Judge(), torch.device("cpu"), count=2)
    assert figures["drawn_top5"] == 1, "with two captions every one is among five"
    for name in ("edits", "unedited", "reconstructions"):
        parts = (figures[f"{name}_{part}"] for part in ("done", "object_kept", "ground_kept"))
        assert 0 <= figures[f"{name}_right"] <= min(parts)
    assert figures["unedited_right"] == 0
    assert "edits_colour_right" in figures
    assert figures["seconds_an_edit"] > 0
    assert figures["seconds_a_picture"] > 0
    assert figures["peak_memory_mb"] > 50
