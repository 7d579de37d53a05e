from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.serve.peft_names import checkpoint_modules, is_zero, rename_modules
from with_vllm.cpu import ask_vllm, needs_vllm
from with_vllm.tiny_families import FAMILIES, write_adapter, write_family

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = [*range(10, 40)]


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return request.param


def test_adapters_get_the_names_of_the_bases_files(tmp_path: Path, family: str) -> None:
    from safetensors.torch import load_file

    base = write_family(tmp_path / "base", family)
    write_adapter(base, tmp_path / "adapter", PROMPT)
    modules = checkpoint_modules(base)
    rename_modules(tmp_path / "adapter", modules, tmp_path / "renamed")
    before, after = (
        load_file(tmp_path / folder / "adapter_model.safetensors")
        for folder in ("adapter", "renamed")
    )
    sums = [tensor.sum().item() for name, tensor in before.items() if "vision" not in name]
    assert sorted(sums) == sorted(tensor.sum().item() for tensor in after.values())
    named = {name.partition(".lora_")[0].removeprefix("base_model.model.") for name in after}
    assert named < modules
    assert not is_zero(tmp_path / "renamed")


def test_refuses_an_adapter_of_another_model(tmp_path: Path) -> None:
    base = write_family(tmp_path / "base", "llama")
    other = write_family(tmp_path / "other", "phi3")
    write_adapter(other, tmp_path / "adapter", PROMPT)
    with pytest.raises(
        PlainError, match=r"does not fit the base model, which has no .*gate_up_proj"
    ):
        rename_modules(tmp_path / "adapter", checkpoint_modules(base), tmp_path / "renamed")


@needs_vllm
@pytest.mark.soak
def test_vllm_applies_the_adapters_that_peft_saves(tmp_path: Path) -> None:
    # Linear attention on a CPU knows only 16 bits.
    dtypes = ["bfloat16" if family == "qwen3_5" else "float32" for family in FAMILIES]
    cases, expected = [], []
    for family, dtype in zip(FAMILIES, dtypes, strict=True):
        base, adapter = tmp_path / family, tmp_path / f"{family}-adapter"
        write_family(base, family)
        expected.append(write_adapter(base, adapter, PROMPT))
        cases.append({"base": str(base), "adapter": str(adapter), "prompt": PROMPT, "dtype": dtype})
    answers = ask_vllm("adapters.py", cases)
    for family, dtype, one, found in zip(FAMILIES, dtypes, expected, answers, strict=True):
        close = 0.02 if dtype == "float32" else 0.5
        assert found["base"] == pytest.approx(one["base"], abs=close), family
        assert found["tuned"] == pytest.approx(one["tuned"], abs=close), family
        pairs = zip(found["tuned"], found["base"], strict=True)
        assert max(abs(tuned - base) for tuned, base in pairs) > 2 * close, family
