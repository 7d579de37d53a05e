"""Compares LoRAs per picture with Diffusers, in any batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import torch
from diffusers.loaders.lora_base import LORA_ADAPTER_METADATA_KEY
from PIL import Image

from bakehouse_runtime.errors import RequestError
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.lora import ChosenLora, LoraCache, read_lora

from ..tiny import (
    LORA_LAYERS,
    difference,
    lora_weights,
    write_as_diffusers,
    write_lora,
    write_tiny_kontext,
)
from .by_diffusers import Diffusers

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

CPU = torch.device("cpu")
PICTURE = Image.effect_mandelbrot((90, 50), (-2, -1.5, 1, 1.5), 40).convert("RGB")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_kontext(tmp_path_factory.mktemp("model") / "kontext")


@pytest.fixture(scope="module")
def kontext(folder: Path) -> KontextPipeline:
    return KontextPipeline.from_folder(folder, CPU)


@pytest.fixture(scope="module")
def weights(kontext: KontextPipeline) -> dict[str, Tensor]:
    return lora_weights(kontext.transformer, seed=1)


@pytest.fixture
def diffusers(folder: Path) -> Diffusers:
    """A model that Diffusers may change."""
    return Diffusers(folder)


def request(lora: ChosenLora | None, seed: int = 3) -> KontextRequest:
    return KontextRequest("make it blue", seed, 5, 3, PICTURE, lora)


def by_diffusers(diffusers: Diffusers, file: Path, scale: float = 1.0) -> Image.Image:
    diffusers.edits.load_lora_weights(str(file.parent), weight_name=file.name, adapter_name="one")
    diffusers.edits.set_adapters("one", scale)
    return diffusers.generate("make it blue", 3, 5, PICTURE, guidance=3)


def files(tmp_path: Path, weights: dict[str, Tensor]) -> dict[str, Path]:
    """Returns the same LoRA in the formats of several trainers."""
    first, *_ = LORA_LAYERS
    plain = write_lora(tmp_path / "plain.safetensors", weights)
    noted = write_as_diffusers(tmp_path / "noted.safetensors", weights, alpha=1)
    alphas = {f"transformer.{first}.alpha": torch.tensor(4.0)}
    beside = write_lora(tmp_path / "beside.safetensors", {**weights, **alphas})
    kohya = {
        "lora_unet_double_blocks_0_img_attn_qkv.lora_down.weight": weights[
            f"transformer.{first}.lora_A.weight"
        ],
        "lora_unet_double_blocks_0_img_attn_qkv.lora_up.weight": torch.cat(
            [weights[f"transformer.{first}.lora_B.weight"]] * 3
        ),
        "lora_unet_double_blocks_0_img_attn_qkv.alpha": torch.tensor(1.0),
    }
    return {
        "plain": plain,
        "noted": noted,
        "beside": beside,
        "kohya": write_lora(tmp_path / "kohya.safetensors", kohya),
    }


@pytest.mark.parametrize("kind", ["plain", "noted", "beside", "kohya"])
def test_lora_changes_the_picture_like_diffusers(
    kontext: KontextPipeline,
    diffusers: Diffusers,
    weights: dict[str, Tensor],
    tmp_path: Path,
    kind: str,
) -> None:
    file = files(tmp_path, weights)[kind]
    plain, generated = kontext.generate([request(None), request(ChosenLora(kind, file, 0.5))])
    assert difference(generated.media, by_diffusers(diffusers, file, 0.5)) <= 1
    assert difference(generated.media, plain.media) > 1


def test_applies_a_different_lora_to_each_picture(
    kontext: KontextPipeline, weights: dict[str, Tensor], tmp_path: Path
) -> None:
    one = write_lora(tmp_path / "one.safetensors", weights)
    two = write_lora(tmp_path / "two.safetensors", lora_weights(kontext.transformer, seed=2))
    before = kontext.generate([request(None)])[0].media
    requests = [
        request(chosen)
        for chosen in (
            ChosenLora("one", one, 1),
            ChosenLora("two", two, 1),
            ChosenLora("one", one, 0.3),
            ChosenLora("one", one, 0),
            None,
        )
    ]
    together = [generated.media for generated in kontext.generate(requests)]
    alone = [kontext.generate([one])[0].media for one in requests]
    for company, single in zip(together, alone, strict=True):
        assert difference(company, single) <= 1
    assert all(difference(together[0], other) > 1 for other in together[1:])
    # Applying LoRAs leaves the model bitwise unchanged.
    assert difference(alone[3], before) == difference(alone[4], before) == 0


def test_batches_pictures_of_one_lora(
    kontext: KontextPipeline, weights: dict[str, Tensor], tmp_path: Path
) -> None:
    file = write_lora(tmp_path / "one.safetensors", weights)
    rows: list[int] = []
    hook = kontext.transformer.register_forward_pre_hook(
        lambda _, __, given: rows.append(len(given["hidden_states"])), with_kwargs=True
    )
    with hook:
        samplings = [
            kontext.begin(request(chosen, seed))
            for seed in (1, 2)
            for chosen in (None, ChosenLora("one", file, 1), ChosenLora("one", file, 0))
        ]
        kontext.step(samplings)
    assert rows == [4, 2]


def test_caches_the_most_recently_used_loras(
    kontext: KontextPipeline, weights: dict[str, Tensor], tmp_path: Path
) -> None:
    file = write_lora(tmp_path / "one.safetensors", weights)
    size = read_lora(file, kontext.transformer, kontext.family).size_bytes
    assert size == 4 * sum(weight.numel() for weight in weights.values())
    cache = LoraCache(kontext.transformer, kontext.family, bytes_max=2 * size)

    def load(name: str) -> object:
        return cache.load(ChosenLora(name, file, 1))

    a, b = load("a"), load("b")
    assert load("a") is a
    load("c")
    assert load("a") is a
    assert load("b") is not b


MISFITS = {
    "other layers": (
        {"transformer.transformer_blocks.7.attn.to_q": (2, 2)},
        "the model has no layer transformer_blocks.7.attn.to_q.",
    ),
    "another width": (
        {f"transformer.{LORA_LAYERS[0]}": (2, 64)},
        f"its matrices for {LORA_LAYERS[0]} are (2, 64) and (64, 2), the layer is 16 to 16.",
    ),
    "a rank": (
        {f"transformer.{LORA_LAYERS[0]}": (129, 16)},
        f"its rank for {LORA_LAYERS[0]} is 129, and at most 128 is applied.",
    ),
    "a text encoder": (
        {"text_encoder.layers.0.q_proj": (2, 16)},
        "it has text_encoder.layers.0.q_proj.lora_A.weight, and only what begins with "
        "transformer. is applied.",
    ),
}


@pytest.mark.parametrize(("layers", "reason"), MISFITS.values(), ids=MISFITS)
def test_rejects_a_lora_that_does_not_fit_by_name(
    kontext: KontextPipeline, tmp_path: Path, layers: dict[str, tuple[int, int]], reason: str
) -> None:
    weights = {}
    for name, (rank, width) in layers.items():
        weights[f"{name}.lora_A.weight"] = torch.zeros(rank, width)
        weights[f"{name}.lora_B.weight"] = torch.zeros(width, rank)
    assert refusal(kontext, tmp_path, weights) == reason


def test_rejects_files_that_are_no_plain_lora(
    kontext: KontextPipeline, weights: dict[str, Tensor], tmp_path: Path
) -> None:
    key = f"transformer.{LORA_LAYERS[0]}"

    def refused(**changed: Tensor) -> str:
        return refusal(kontext, tmp_path, {**weights, **changed})

    assert refused(**{f"{key}.dora_scale": torch.ones(1)}).startswith("it is a DoRA (")
    assert refused(**{f"{key}.lora_B.bias": torch.ones(16)}) == (
        f"it has {LORA_LAYERS[0]}.lora_B.bias, which is no part of a plain LoRA."
    )
    # A converter of Diffusers would loop forever on this.
    assert refused(**{f"{key}.alpha": torch.tensor(-1.0)}) == (
        f"{key}.alpha is not a positive number."
    )
    # Torch cannot compare complex numbers, or convert 4-bit floats.
    assert refused(**{f"{key}.alpha": torch.tensor(2j)}) == (
        f"{key}.alpha is of the type complex64, in which no LoRA is."
    )
    fours = torch.zeros((2, 16), dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    assert refused(**{f"{key}.lora_A.weight": fours}) == (
        f"{key}.lora_A.weight is of the type float4_e2m1fn_x2, in which no LoRA is."
    )
    assert refused(**{f"{key}.lora_A.weight": torch.full((2, 16), float("nan"))}) == (
        f"it has values for {LORA_LAYERS[0]} that are not numbers."
    )
    half = {name: one for name, one in weights.items() if name != f"{key}.lora_B.weight"}
    assert refusal(kontext, tmp_path, half) == f"it has one matrix alone for {LORA_LAYERS[0]}."
    whole = {"layers.0.weight": torch.ones(2, 2)}
    assert refusal(kontext, tmp_path, whole) == (
        "its keys, such as layers.0.weight, are not those of a LoRA for FLUX."
    )


def test_does_not_trust_the_metadata_of_a_lora(
    kontext: KontextPipeline, weights: dict[str, Tensor], tmp_path: Path
) -> None:
    def refused(said: str) -> str:
        return refusal(kontext, tmp_path, weights, {LORA_ADAPTER_METADATA_KEY: said})

    assert refused("{") == f"its {LORA_ADAPTER_METADATA_KEY} cannot be read."
    endless = json.dumps({"transformer.alpha_pattern": {"(a+)+b": 1}})
    assert refused(endless) == "its alpha_pattern has (a+)+b, which is no layer's name."
    dora = json.dumps({"transformer.use_dora": True})
    assert refused(dora) == "it is a DoRA (use_dora), and only plain LoRA is applied."
    huge = refusal(kontext, tmp_path, weights, {"more": "than the model" * 100_000})
    assert huge == "it has more weights than the model."
    text = tmp_path / "text.safetensors"
    text.write_text("just text")
    with pytest.raises(RequestError, match="cannot be read as safetensors"):
        kontext.begin(request(ChosenLora("text", text, 1)))


def refusal(
    kontext: KontextPipeline,
    tmp_path: Path,
    weights: dict[str, Tensor],
    metadata: dict[str, str] | None = None,
) -> str:
    """Returns the reason, without the common prefix of the error."""
    file = write_lora(tmp_path / "misfit.safetensors", weights, metadata)
    with pytest.raises(RequestError) as raised:
        kontext.begin(request(ChosenLora("misfit", file, 1)))
    assert raised.value.field == "lora"
    before, reason = str(raised.value).split(": ", 1)
    assert before == "This LoRA does not fit the model"
    return reason
