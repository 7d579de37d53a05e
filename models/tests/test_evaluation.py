"""Tests that the measurements distinguish right from wrong on known cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageFilter

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.paris.weights import save_expert
from image.tiny import (
    TINY_EXPERT,
    TINY_ROUTER,
    difference,
    tiny_autoencoder,
    tiny_expert,
    tiny_transformer,
)
from workshop.evaluation.cost import random_paris, seconds_of_flux_steps
from workshop.evaluation.drawing import drawn
from workshop.evaluation.edit_check import judge_edit
from workshop.evaluation.held_out import (
    held_out_edits,
    held_out_prompts,
    swapped_captions,
)
from workshop.evaluation.judge import Judge
from workshop.evaluation.measure import (
    STARTERS,
    Measured,
    measure_kontext,
    measure_models,
    measure_paris,
)
from workshop.evaluation.variants import one_expert, routed_at_random, variants
from workshop.flux import export_kontext
from workshop.scenes.edits import EDITS, Edit
from workshop.scenes.grounds import Ground
from workshop.scenes.objects import CutOut
from workshop.scenes.scene import combinations, is_held_out, render


def test_prompts_are_held_out_and_fixed(objects: list[CutOut]) -> None:
    prompts = held_out_prompts(objects, 20, "reporting")
    again = held_out_prompts(objects, 20, "reporting")
    assert [p.text for p in prompts] == [p.text for p in again]
    chosen_by = held_out_prompts(objects, 20, "choosing")
    assert not {p.seed for p in prompts} & {p.seed for p in chosen_by}
    assert [p.text for p in prompts] != [p.text for p in chosen_by]
    for prompt in prompts:
        assert any(is_held_out(*parts) for parts in combinations(prompt.scene, objects))
    first = {prompt.scene.things[0].cut_out for prompt in prompts[: len(objects)]}
    assert len(first) == len(objects), "every object has its turn"


def test_edits_are_held_out_and_of_every_kind(objects: list[CutOut]) -> None:
    edits = held_out_edits(objects, 20, "reporting")
    assert len({edit.kind for edit, _ in edits}) == 10
    assert [e.instruction for e, _ in edits] == [
        e.instruction for e, _ in held_out_edits(objects, 20, "reporting")
    ]


def test_a_swapped_caption_differs_in_one_thing(objects: list[CutOut]) -> None:
    prompts = held_out_prompts(objects, 40, "reporting")
    kinds = set()
    for prompt in prompts:
        swapped = swapped_captions(prompt, objects)
        assert swapped == swapped_captions(prompt, objects)
        assert prompt.text not in swapped.values()
        kinds |= set(swapped)
        if "colour" in swapped:
            words = zip(prompt.text.split(), swapped["colour"].split(), strict=True)
            # Apart from the colour, at most the article changes.
            assert 1 <= sum(one != other for one, other in words) <= 2
    assert kinds == {"colour", "side", "relation", "second_object", "ground"}


# Fakes a picture from (before, wanted) that must not pass as the edit.
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
# Their wanted grounds are flat, so one flat colour is right.
FLAT_WANTED = {"ground colour", "no ground"}
EDIT_SIDE = 128


def edits_of_every_kind(cut_outs: list[CutOut]) -> list[Edit]:
    return [edit for edit, _ in held_out_edits(cut_outs, 3 * len(EDITS), "choosing")]


def test_accepts_the_wanted_picture_and_a_soft_one(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        wanted = render(edit.after, shaded_objects, EDIT_SIDE)
        soft = wanted.filter(ImageFilter.GaussianBlur(1.5))
        assert judge_edit(edit, shaded_objects, wanted).right, edit.kind
        assert judge_edit(edit, shaded_objects, soft).right, edit.kind


@pytest.mark.parametrize("name", CHEATS)
def test_rejects_fakes(name: str, shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if name == "flat" and edit.kind in FLAT_WANTED:
            continue
        before, wanted = (render(s, shaded_objects, EDIT_SIDE) for s in (edit.before, edit.after))
        verdict = judge_edit(edit, shaded_objects, CHEATS[name](before, wanted))
        assert not verdict.right, edit.kind


def test_detects_a_missing_or_different_object(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        gone = replace(edit.after, things=())
        assert not judge_edit(
            edit, shaded_objects, render(gone, shaded_objects, EDIT_SIDE)
        ).object_kept
        thing, *others = edit.after.things
        wrong = replace(thing, cut_out=(thing.cut_out + 1) % len(shaded_objects))
        another = replace(edit.after, things=(wrong, *others))
        assert not judge_edit(
            edit, shaded_objects, render(another, shaded_objects, EDIT_SIDE)
        ).object_kept


def test_judges_object_and_ground_separately(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        gone = replace(edit.after, things=())
        verdict = judge_edit(edit, shaded_objects, render(gone, shaded_objects, EDIT_SIDE))
        assert verdict.ground_kept
        elsewhere = replace(edit.after, ground=Ground("at night", 1))
        if edit.before.ground == edit.after.ground != elsewhere.ground:
            picture = render(elsewhere, shaded_objects, EDIT_SIDE)
            assert not judge_edit(edit, shaded_objects, picture).ground_kept


def test_rejects_a_different_colour(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind == "colour":
            (thing,) = edit.after.things
            colour = "green" if thing.colour in ("blue", "purple") else "blue"
            wrong = replace(edit.after, things=(replace(thing, colour=colour),))
            picture = render(wrong, shaded_objects, EDIT_SIDE)
            assert not judge_edit(edit, shaded_objects, picture).done


def test_accepts_any_degree_of_smaller_and_bigger(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind in ("smaller", "bigger"):
            (thing,) = edit.after.things
            for part, right in ((0.93, True), (1.07, True), (0.6, False), (1.5, False)):
                sized = replace(thing, width=thing.width * part)
                picture = render(replace(edit.after, things=(sized,)), shaded_objects, EDIT_SIDE)
                assert judge_edit(edit, shaded_objects, picture).right is right


def test_accepts_a_small_shift_and_another_shade(shaded_objects: list[CutOut]) -> None:
    for edit in edits_of_every_kind(shaded_objects):
        if edit.kind not in ("place", "ground colour"):
            continue
        (thing,) = edit.after.things
        moved = replace(thing, x=thing.x + 0.015, y=thing.y - 0.015)
        ground = replace(edit.after.ground, seed=edit.after.ground.seed + 1)
        other = replace(edit.after, things=(moved,), ground=ground)
        assert judge_edit(edit, shaded_objects, render(other, shaded_objects, EDIT_SIDE)).right


def test_measures_a_tiny_paris(tmp_path: Path, paris_folder: Path, objects: list[CutOut]) -> None:
    measured = Measured(prompts=4, edits=0, videos=0, which="reporting", work=tmp_path)
    judge, cpu = Judge(len(objects)), torch.device("cpu")
    save_expert(tiny_expert(9), paris_folder / "base", torch.float16)
    figures = measure_paris(paris_folder, objects, judge, cpu, measured)
    compared = ("ellipses", "untrained", "random_routing", "expert_0", "base")
    for name in ("real_pictures", "reconstructions", *compared, "top1", "top2"):
        assert 0 <= figures[f"{name}_object_top1"] <= figures[f"{name}_object_top5"] <= 1
        assert figures[f"{name}_caption_top5"] == 1, "with four captions every one is among five"
        assert figures[f"{name}_detail"] > 0
    assert figures["reconstructions_detail"] == 1
    for name in ("real_pictures_swaps", "top1_swaps"):
        assert 0 <= figures[name] <= 1
    assert figures["seconds_a_picture_top1"] > 0
    assert figures["peak_memory_mb"] > 50


def test_the_base_replaces_all_experts(tmp_path: Path, paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, torch.device("cpu"))
    save_expert(paris.experts[1], tmp_path / "base", torch.float32)
    request = ParisRequest("a ball", 1, steps=4)

    def made(changed: ParisPipeline) -> Image.Image:
        return changed.generate([request])[0].media

    base = variants(tmp_path / "base")["base"](paris)
    assert difference(made(base), made(one_expert(paris, 1))) <= 1
    assert difference(made(base), made(one_expert(paris, 0))) > 1


def test_caches_pictures_of_the_same_weights(
    tmp_path: Path, paris_folder: Path, objects: list[CutOut]
) -> None:
    paris = ParisPipeline.from_folder(paris_folder, torch.device("cpu"))
    prompts = held_out_prompts(objects, 3, "choosing")

    def mean(changed: ParisPipeline) -> float:
        pictures = drawn(changed, prompts, "top1", tmp_path / "drawn")
        assert len(pictures) == 3
        return float(np.mean([np.asarray(picture) for picture in pictures]))

    assert mean(paris) > 0
    kept = list(tmp_path.rglob("*.png"))
    assert len(kept) == 3
    for path in kept:
        Image.new("RGB", (32, 32)).save(path)
    assert mean(paris) == 0
    kept[0].unlink()
    assert mean(paris) > 0, "what is missing is drawn again"
    assert mean(one_expert(paris, 1)) > 0


def test_random_routing_uses_every_expert(paris_folder: Path) -> None:
    paris = routed_at_random(ParisPipeline.from_folder(paris_folder, torch.device("cpu")))
    latents = torch.zeros(200, 4, 4, 4)
    chosen = paris.router(latents, torch.zeros(200)).argmax(dim=1)
    counts = torch.bincount(chosen, minlength=len(paris.experts))
    assert (counts > 200 / len(paris.experts) / 2).all()


def test_a_random_paris_of_any_shape_generates_pictures() -> None:
    paris = random_paris(TINY_EXPERT, TINY_ROUTER, (8, 8, 8, 8), torch.device("cpu"))
    assert paris.generate([ParisRequest("", 1, steps=2)])[0].media.size == (32, 32)
    assert paris.experts[0].pos_embed.dtype == torch.bfloat16


def test_times_the_steps_of_a_flux_of_any_shape() -> None:
    assert seconds_of_flux_steps(tiny_transformer(), latent_side=4, window=3) > 0


def test_reports_missing_files(tmp_path: Path) -> None:
    measured = Measured(prompts=4, edits=4, videos=0, which="reporting", work=tmp_path)
    with pytest.raises(PlainError, match="The data packages are missing"):
        measure_models(tmp_path, measured, STARTERS)
    (tmp_path / "packages").mkdir()
    with pytest.raises(PlainError, match="The judge is missing"):
        measure_models(tmp_path, measured, STARTERS)


@pytest.mark.soak
def test_measures_a_tiny_kontext(tmp_path: Path, objects: list[CutOut]) -> None:
    export_kontext(tiny_transformer(), tiny_autoencoder(), tmp_path, torch.float32)
    measured = Measured(prompts=0, edits=2, videos=0, which="choosing", work=tmp_path)
    judge, cpu = Judge(len(objects)), torch.device("cpu")
    figures = measure_kontext(tmp_path, objects, judge, cpu, measured)
    assert figures["drawn_caption_top5"] == 1, "with two captions every one is among five"
    for name in ("edits", "unedited", "reconstructions"):
        parts = (figures[f"{name}_{part}"] for part in ("done", "object_kept", "ground_kept"))
        assert 0 <= figures[f"{name}_right"] <= min(parts)
        assert figures[f"{name}_right_low"] <= figures[f"{name}_right"]
    assert figures["unedited_right"] == 0
    assert "edits_colour_right" in figures
    assert figures["seconds_an_edit"] > 0
    assert figures["seconds_a_picture"] > 0
    assert figures["peak_memory_mb"] > 50
