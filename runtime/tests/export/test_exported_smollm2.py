"""Exports of the starter model; takes minutes on two cores, so it needs `pytest -m soak`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.prepare import GGUF_NAME, prepare_smollm2
from bakehouse_runtime.serve.convert_adapter import convert_adapter
from bakehouse_runtime.train.model_files import copy_tokenizer
from exporting import answers, export, gguf_spec
from train_spec import LINEAR

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

pytestmark = pytest.mark.soak
PROMPTS = [
    "What is a sourdough?",
    "Name three cities in Italy.",
    "Write a line about the sea.",
    "How many days has a week?",
    "Who wrote Hamlet?",
]


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2")
    for form in ("gguf", "safetensors"):
        prepare_smollm2(form, folder)
    return folder


@pytest.fixture(scope="module")
def adapter(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA that changes the starter's answers but leaves them whole sentences."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(5)
    folder = tmp_path_factory.mktemp("adapter")
    config = LoraConfig(r=8, lora_alpha=16, target_modules=LINEAR)
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(smollm2), config)
    for name, values in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(values, std=0.004)
    model.save_pretrained(str(folder))
    copy_tokenizer(smollm2, folder)
    return folder


@pytest.mark.parametrize(("quantization", "least"), [("F16", 4), ("Q8_0", 1)])
def test_answers_like_the_served_adapter(
    server: BakehouseServer,
    tmp_path: Path,
    smollm2: Path,
    adapter: Path,
    quantization: str,
    least: int,
) -> None:
    spec = gguf_spec(
        server,
        tmp_path,
        smollm2,
        adapter,
        quantization=quantization,
        base_model_file=GGUF_NAME,
        prompts=PROMPTS,
    )
    ran = export(spec, tmp_path)
    assert ran.returncode == 0, ran.stderr
    convert_adapter(adapter, smollm2, tmp_path / "adapter.gguf")
    served = answers(spec, smollm2 / GGUF_NAME, tmp_path / "adapter.gguf")
    merged = answers(spec, server.artefacts / "Loaves-F16.gguf", None)
    equal = sum(one == other for one, other in zip(served, merged, strict=True))
    summary = server.of_type("result")[0]["summary"]
    assert summary["equal_answers"] == equal >= least
    assert answers(spec, smollm2 / GGUF_NAME, None) != served
