"""Tests that scenes are drawn as their captions describe."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from workshop.scenes.edits import EDITS, Edit, draw_edit
from workshop.scenes.examples import EditExamples, LatentWeights, SceneExamples
from workshop.scenes.grounds import (
    GROUND_COLOURS,
    NO_GROUND,
    PLACES,
    Ground,
    draw_ground,
)
from workshop.scenes.objects import CutOut, load_cut_outs
from workshop.scenes.scene import (
    OBJECT_COLOURS,
    Scene,
    Thing,
    caption,
    combinations,
    draw_any_scene,
    draw_scene,
    is_held_out,
    pair_scene,
    recolour,
    render,
    single_scene,
    with_article,
)

WHITE = Ground(NO_GROUND, 0)


def colours_of(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture).astype(int)


def visible_box(scene: Scene, cut_outs: list[CutOut]) -> tuple[int, int, int, int]:
    """Returns left, top, right, bottom of everything that is not white."""
    seen = (colours_of(render(scene, cut_outs)) < 250).any(axis=-1)
    rows, columns = np.flatnonzero(seen.sum(1)), np.flatnonzero(seen.sum(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])


def test_draws_a_scene_deterministically(cut_outs: list[CutOut]) -> None:
    scene = draw_any_scene(np.random.default_rng(4), cut_outs, 1)
    assert (colours_of(render(scene, cut_outs)) == colours_of(render(scene, cut_outs))).all()
    assert render(scene, cut_outs, 64).size == (64, 64)


def test_captions_describe_scenes(cut_outs: list[CutOut]) -> None:
    rng = np.random.default_rng(0)
    plain = single_scene(rng, 0, Ground(None, 1))
    assert caption(plain, cut_outs) == "a red ball"
    rich = single_scene(
        rng, 0, Ground("yellow", 1), colour="orange", size="small", side="on the left"
    )
    assert caption(rich, cut_outs) == "a small orange ball on the left on a yellow background"
    placed = single_scene(rng, 2, Ground("on grass", 1), size="large")
    assert caption(placed, cut_outs) == "a large blue box on grass"
    pair = Scene(
        (Thing(0, None, 0.4, 0.3, 0.5), Thing(2, "pink", 0.4, 0.7, 0.5)), WHITE, relation="left of"
    )
    assert caption(pair, cut_outs) == "a red ball left of a pink box"
    upside_down = Scene((Thing(0, None, 0.4, 0.5, 0.5, upside_down=True),), WHITE)
    assert caption(upside_down, cut_outs) == "a red ball upside down"


def test_adds_articles() -> None:
    assert [with_article(name) for name in ("apple", "pear", "glasses", "bus", "iris")] == [
        "an apple",
        "a pear",
        "glasses",
        "a bus",
        "an iris",
    ]


def test_sides_and_relations_match_the_caption(cut_outs: list[CutOut]) -> None:
    rng = np.random.default_rng(1)
    left = single_scene(rng, 0, WHITE, size="small", side="on the left")
    assert visible_box(left, cut_outs)[2] < 64
    bottom = single_scene(rng, 0, WHITE, size="small", side="at the bottom")
    assert visible_box(bottom, cut_outs)[1] > 64
    for relation, axis in (("left of", 0), ("above", 1)):
        pair = pair_scene(rng, cut_outs, (0, 2), relation, WHITE)  # pyright: ignore[reportArgumentType]
        first, second = (visible_box(Scene((thing,), WHITE), cut_outs) for thing in pair.things)
        assert first[axis + 2] < second[axis + 2]


def test_recolouring_changes_the_hue_but_not_greys_and_alpha() -> None:
    pixels = Image.new("RGBA", (4, 2), (200, 30, 30, 255))
    pixels.putpixel((0, 0), (120, 120, 120, 255))
    pixels.putpixel((1, 0), (200, 30, 30, 90))
    for name, (hue, _) in OBJECT_COLOURS.items():
        changed = recolour(pixels, name)
        assert changed.getpixel((0, 0)) == (120, 120, 120, 255)
        assert changed.getchannel("A").getpixel((1, 0)) == 90
        got = changed.convert("RGB").convert("HSV").getpixel((2, 1))
        assert isinstance(got, tuple)
        assert min(abs(got[0] - hue), 255 - abs(got[0] - hue)) <= 2


@pytest.mark.parametrize("name", [None, NO_GROUND, *GROUND_COLOURS, *PLACES])
def test_draws_grounds(name: str | None) -> None:
    drawn = draw_ground(Ground(name, 3), 48)
    assert drawn.shape == (48, 48, 3)
    assert drawn.min() >= 0
    assert drawn.max() <= 255
    assert (drawn == draw_ground(Ground(name, 3), 48)).all()


def test_never_draws_held_out_combinations(cut_outs: list[CutOut]) -> None:
    assert is_held_out("blue", "red ball") == is_held_out("red ball", "blue")
    rng = np.random.default_rng(2)
    for number in range(300):
        scene = draw_scene(rng, cut_outs, number % len(cut_outs))
        assert not any(is_held_out(*parts) for parts in combinations(scene, cut_outs))
    drawn = [draw_any_scene(rng, cut_outs, number % len(cut_outs)) for number in range(300)]
    held_out = [s for s in drawn if any(is_held_out(*p) for p in combinations(s, cut_outs))]
    assert held_out, "there is something left to evaluate on"


def test_holds_out_about_a_tenth_of_the_combinations() -> None:
    names = [f"object {number}" for number in range(200)]
    share = sum(is_held_out(colour, name) for colour in OBJECT_COLOURS for name in names) / (
        len(names) * len(OBJECT_COLOURS)
    )
    assert 0.07 < share < 0.13


def edit_of(kind: str, cut_outs: list[CutOut]) -> Edit:
    rng = np.random.default_rng(11)
    while True:
        edit = EDITS[kind](rng, cut_outs, 3)
        if edit is not None:
            return edit


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_changes_the_picture(kind: str, cut_outs: list[CutOut]) -> None:
    if kind == "hat":
        cut_outs = [*cut_outs, *(
            CutOut(name, (), "Objects", cut_outs[0].pixels, recolourable=False)
            for name in ("crown", "graduation cap")
        )]  # fmt: skip
    edit = edit_of(kind, cut_outs)
    assert edit.kind == kind
    assert edit.instruction
    before, after = (colours_of(render(s, cut_outs)) for s in (edit.before, edit.after))
    # A flat box is its own mirror image.
    assert (before != after).any() or kind in ("mirrored", "upside down")


def test_edits_change_only_what_they_name(cut_outs: list[CutOut]) -> None:
    coloured = edit_of("colour", cut_outs)
    assert coloured.before.ground == coloured.after.ground
    smaller = edit_of("smaller", cut_outs)
    (before,), (after,) = smaller.before.things, smaller.after.things
    assert (after.x, after.y, after.cut_out) == (before.x, before.y, before.cut_out)
    assert after.width < 0.7 * before.width
    bare = edit_of("no ground", cut_outs)
    assert bare.before.things == bare.after.things
    assert (colours_of(render(bare.after, cut_outs))[0, 0] == 255).all()


def test_training_edits_avoid_held_out_combinations(cut_outs: list[CutOut]) -> None:
    rng = np.random.default_rng(5)
    for number in range(200):
        edit = draw_edit(rng, cut_outs, number % len(cut_outs), dict.fromkeys(EDITS, 1.0))
        for scene in (edit.before, edit.after):
            assert not any(is_held_out(*parts) for parts in combinations(scene, cut_outs))


def test_draws_kinds_of_edits_with_the_requested_frequency(objects: list[CutOut]) -> None:
    kinds = dict.fromkeys(EDITS, 0.0) | {"bigger": 3, "hat": 1}
    rng = np.random.default_rng(6)
    drawn = [draw_edit(rng, objects, 0, kinds).kind for _ in range(400)]
    assert set(drawn) == {"bigger", "hat"}
    assert 0.65 < drawn.count("bigger") / len(drawn) < 0.85


def test_weighs_latents_by_object_and_change(cut_outs: list[CutOut]) -> None:
    box, ground = Thing(2, None, 0.5, 0.5, 0.5), Ground(NO_GROUND, 0)
    before = Scene((box,), ground)
    weights = LatentWeights(object=4, changed=2)

    def of(after: Scene) -> np.ndarray:
        pictures = (render(scene, cut_outs, 128) for scene in (before, after))
        return weights.of(after, cut_outs, *pictures)

    unchanged = of(before)
    assert unchanged.shape == (16, 16)
    # The box covers 8 x 8 of the 16 x 16 latents.
    wanted = np.ones((16, 16), int)
    wanted[4:12, 4:12] = 5
    assert (unchanged == wanted).all()
    recoloured = of(Scene((replace(box, colour="orange"),), ground))
    assert (recoloured == np.where(wanted == 5, 7, 1)).all()
    bare = of(Scene((), ground))
    assert (bare == np.where(wanted == 5, 3, 1)).all(), "where it was, the ground has changed"
    smaller = of(Scene((replace(box, width=0.25),), ground))
    assert set(smaller[6:10, 6:10].flat) == {5}
    assert smaller[4, 4] == 3
    elsewhere = of(Scene((box,), Ground("black", 0)))
    assert (elsewhere == np.where(wanted == 5, 5, 3)).all()


def test_examples_of_scenes_and_edits_have_weights(objects: list[CutOut]) -> None:
    weights = LatentWeights(object=4, changed=2)
    edit = EditExamples(objects, 128, 8, 1, weights, dict.fromkeys(EDITS, 1.0))[3]
    assert edit.weights is not None
    assert set(edit.weights.flat) <= {1, 3, 5, 7}
    scene = SceneExamples(objects, 128, 8, 1, weights)[3]
    assert scene.weights is not None
    assert set(scene.weights.flat) == {1, 5}
    assert SceneExamples(objects, 128, 8, 1)[3].weights is None


def test_reads_objects_from_the_packages(tmp_path: Path) -> None:
    assets = tmp_path / "fluent-emoji-3d" / "assets"
    assets.mkdir(parents=True)
    layer = Image.new("RGBA", (64, 64))
    layer.paste((220, 20, 20, 255), (10, 20, 50, 40))
    for code in ("1f34e", "2708"):
        layer.save(assets / f"{code}.webp", lossless=True)
    entry = {"group": "Food & Drink", "emoji_version": "1.0"}
    names = {
        "\U0001f34e": {**entry, "name": "red apple"},
        "\u2708\ufe0f": {**entry, "name": "Airplane", "group": "Travel & Places"},
        "\U0001f3f3": {**entry, "name": "white flag", "group": "Flags"},
        "\U0001f550": {**entry, "name": "one o'clock"},
    }
    for folder, file, content in (
        ("unicode-emoji-json", "data-by-emoji.json", names),
        ("emojilib/dist", "emoji-en-US.json", {"\U0001f34e": ["red_apple", "fruit", "red_fruit"]}),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).write_text(json.dumps(content))
    apple, plane = load_cut_outs(tmp_path, side=80)
    assert (apple.name, apple.other_names) == ("red apple", ("fruit", "red fruit"))
    assert apple.pixels.size == (80, 40), "cropped to what is visible"
    assert apple.recolourable
    assert plane.name == "airplane"
