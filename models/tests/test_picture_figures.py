"""Tests that the judge and its measurements distinguish right from wrong on known cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageFilter
from safetensors.torch import save_file
from torch import Tensor

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.text import SentenceText
from image.line import SETTINGS, Recorder
from workshop.evaluation.ellipses import draw_ellipses, ellipses_of, insides
from workshop.evaluation.held_out import Prompt, held_out_prompts
from workshop.evaluation.judge import (
    CELLS,
    JUDGED_SIDE,
    Judge,
    caption_ranks,
    cells_of,
    judge_input,
    load_judge,
)
from workshop.evaluation.likeness import detail_energy, kernel_distance
from workshop.evaluation.picture_figures import (
    PictureFigures,
    check_judge,
    is_named,
    object_ranks,
)
from workshop.evaluation.shares import interval, share_with_interval
from workshop.scenes.grounds import NO_GROUND, Ground
from workshop.scenes.objects import CutOut
from workshop.scenes.scene import Scene, Thing, render
from workshop.train_judge import UNCERTAIN, object_labels, train_judge

WHITE = Ground(NO_GROUND, 0)
BLACK = Image.new("RGB", (JUDGED_SIDE, JUDGED_SIDE))


def drawn(prompts: list[Prompt], cut_outs: list[CutOut]) -> list[Image.Image]:
    return [render(prompt.scene, cut_outs, JUDGED_SIDE) for prompt in prompts]


def test_ranks_count_better_captions() -> None:
    scores = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 1.0], [0.9, 0.8, 0.7]])
    assert caption_ranks(scores).tolist() == [0, 1, 2]


def test_ties_and_nan_scores_count_as_worse() -> None:
    nan = float("nan")
    assert caption_ranks(torch.zeros(3, 3)).tolist() == [2, 2, 2]
    scores = torch.tensor([[nan, 1.0, 2.0], [nan, 4.0, nan], [nan, nan, nan]])
    assert caption_ranks(scores).tolist() == [2, 0, 2]
    assert is_named(scores, [[0], [1], [0]]) == [False, True, False]
    assert is_named(torch.zeros(1, 3), [[0]]) == [False]
    assert object_ranks(scores, [[0], [1], [0]], [0, 1, 2]).tolist() == [2, 0, 2]


def test_ranks_an_object_among_others() -> None:
    names = torch.arange(300.0).expand(3, -1)
    first_two = names[:2]
    assert object_ranks(names, [[299], [298, 299], [0]], [1, 2, 3]).tolist() == [0, 0, 99]
    middle = object_ranks(first_two, [[150]] * 2, [1, 2]).tolist()
    assert all(30 < rank < 70 for rank in middle)
    assert middle[0] != middle[1], "each picture has others of its own"
    assert is_named(first_two, [[298, 299], [298]]) == [True, False]


@pytest.mark.parametrize("content", [b"no weights", None])
def test_reports_a_damaged_judge(tmp_path: Path, content: bytes | None) -> None:
    damaged = tmp_path / "judge.safetensors"
    if content is None:
        save_file({"text.weight": torch.zeros(2, 2)}, damaged)
    else:
        damaged.write_bytes(content)
    with pytest.raises(PlainError, match=r"^The judge cannot be loaded: .+\.$"):
        load_judge(damaged)


def test_rejects_a_judge_that_misnames_real_pictures(objects: list[CutOut]) -> None:
    torch.manual_seed(1)
    with pytest.raises(PlainError, match=r"names the first object of [\d.]+% of real pictures"):
        check_judge(Judge(len(objects)), objects)


def test_measures_with_perfect_and_useless_judges(
    objects: list[CutOut], sentences: SentenceText
) -> None:
    prompts = held_out_prompts(objects, 8, "choosing")
    vectors = sentences.sentences([prompt.text for prompt in prompts])
    firsts = [prompt.scene.things[0].cut_out for prompt in prompts]

    class AlwaysRight(Judge):
        def fit_captions(self, cells: Tensor, sentences: Tensor) -> Tensor:
            return vectors @ sentences.T

        def name_objects(self, cells: Tensor) -> Tensor:
            return torch.eye(self.objects)[firsts]

    class AlwaysWrong(Judge):
        def fit_captions(self, cells: Tensor, sentences: Tensor) -> Tensor:
            return torch.zeros(len(cells), len(sentences))

        def name_objects(self, cells: Tensor) -> Tensor:
            return torch.zeros(len(cells), self.objects)

    pictures = drawn(prompts, objects)
    for judge, right in ((AlwaysRight(len(objects)), 1.0), (AlwaysWrong(len(objects)), 0.0)):
        figures = PictureFigures(judge, prompts, objects, sentences)
        swaps = figures.against_swaps(pictures)
        assert set(swaps.values()) == {right}
        assert "swaps" in swaps
        found = figures.of(pictures)
        for name in ("named", "object_top1", "caption_top1"):
            assert found[name] == right
            assert found[f"{name}_low"] < found[f"{name}_high"]


def test_compares_pictures_with_reconstructions(
    shaded_objects: list[CutOut], sentences: SentenceText
) -> None:
    prompts = held_out_prompts(shaded_objects, 8, "choosing")
    torch.manual_seed(1)
    figures = PictureFigures(Judge(len(shaded_objects)), prompts, shaded_objects, sentences)
    real = drawn(prompts, shaded_objects)
    soft = [picture.filter(ImageFilter.GaussianBlur(3)) for picture in real]
    assert figures.against(soft, real)["detail"] < 0.5
    same, other = figures.against(real, real), figures.against([BLACK] * 8, real)
    assert same["detail"] == 1
    assert other["kid"] > same["kid"] + 0.1


def test_labels_cells_with_their_objects(cut_outs: list[CutOut]) -> None:
    box = Thing(2, "pink", 0.5, 0.5, 0.5)
    labels = object_labels(Scene((box,), WHITE), cut_outs)
    assert labels.shape == (CELLS, CELLS)
    assert (labels[2:6, 2:6] == 2).all()
    assert (labels[0] == len(cut_outs)).all()
    assert object_labels(Scene((replace(box, width=0.6),), WHITE), cut_outs)[1, 1] == UNCERTAIN
    # It is too small to cover a cell, so it labels the cell that shows most of it.
    tiny = object_labels(Scene((replace(box, width=0.05),), WHITE), cut_outs)
    assert int((tiny == 2).sum()) >= 1


def test_ellipses_keep_only_place_colour_and_ground(
    shaded_objects: list[CutOut],
) -> None:
    scene = Scene((Thing(0, "blue", 0.6, 0.5, 0.55),), Ground("on grass", 4))
    real = np.asarray(render(scene, shaded_objects), dtype=float)
    blank = draw_ellipses(ellipses_of(scene, shaded_objects), scene.ground, 128)
    pixels = np.asarray(blank, dtype=float)
    inside = (slice(55, 85), slice(50, 78))
    assert pixels[inside].std(axis=(0, 1)).max() == 0
    assert np.abs(pixels[inside].mean(axis=(0, 1)) - real[inside].mean(axis=(0, 1))).max() < 25
    assert (pixels[:25] == real[:25]).all()


def test_detail_is_what_blurring_removes_inside_objects(
    shaded_objects: list[CutOut],
) -> None:
    scene = Scene((Thing(0, None, 0.6, 0.5, 0.55),), Ground("on grass", 4))
    ellipses = ellipses_of(scene, shaded_objects)
    places = insides(ellipses, 128)[None]
    assert 0.05 < places.mean() < 0.2
    sharp = render(scene, shaded_objects)
    soft = sharp.filter(ImageFilter.GaussianBlur(2))
    assert 0 < detail_energy([soft], places) < 0.5 * detail_energy([sharp], places)
    flat = draw_ellipses(ellipses, scene.ground, 128)
    assert detail_energy([flat], places) == pytest.approx(0, abs=1e-9)


def test_the_distance_of_two_draws_is_almost_zero() -> None:
    generator = torch.Generator().manual_seed(1)
    one, other = torch.randn(2, 400, 16, generator=generator)
    far = kernel_distance(one, other + 0.5)
    assert far > 0.3
    assert abs(kernel_distance(one, other)) < 0.1 * far


def test_computes_intervals_of_shares() -> None:
    # Wilson's interval of 8 of 10, from published tables.
    assert interval(0.8, 10) == pytest.approx((0.490, 0.943), abs=1e-3)
    assert interval(0.0, 20)[0] == 0.0
    assert share_with_interval("seen", [True, False])["seen_high"] > 0.9


def test_trains_and_saves_the_judge(
    tmp_path: Path,
    shaded_objects: list[CutOut],
    sentences: SentenceText,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workshop.train_judge.EVAL_SCENES", 10)
    torch.manual_seed(1)
    judge, recorder = Judge(len(shaded_objects)), Recorder()
    loop = replace(SETTINGS, steps=40, learning_rate=0.003, average_decay=0.7)
    assert train_judge(judge, shaded_objects, sentences, loop, 8, 100, tmp_path, recorder, "cpu")
    for curve in (recorder.curve("naming"), recorder.curve("fit")):
        assert sum(curve[-5:]) < 0.9 * sum(curve[:5])
    assert not list(tmp_path.glob("*.partial"))
    pictures, vectors = torch.randn(2, 3, JUDGED_SIDE, JUDGED_SIDE), torch.randn(3, 384)
    kept = load_judge(tmp_path / "judge.safetensors")
    assert kept.objects == judge.objects
    with torch.no_grad():
        seen, kept_seen = judge.cells(pictures), kept.cells(pictures)
        for one, other in (
            (judge.name_objects(seen), kept.name_objects(kept_seen)),
            (judge.fit_captions(seen, vectors), kept.fit_captions(kept_seen, vectors)),
        ):
            torch.testing.assert_close(one, other, atol=0.05, rtol=0.05)


def test_the_judge_accepts_pictures_of_any_size(objects: list[CutOut]) -> None:
    judge = Judge(len(objects)).eval()
    pictures = [Image.new("RGB", (side, side), "red") for side in (128, 256, 96)]
    assert judge_input(pictures).shape == (3, 3, JUDGED_SIDE, JUDGED_SIDE)
    assert cells_of(judge, pictures).shape[-1] == CELLS
