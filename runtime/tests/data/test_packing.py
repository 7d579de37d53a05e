"""Tests packing, its report, and when it is rejected."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakehouse_runtime.base_model import require_packable
from bakehouse_runtime.data.packing import pack, packed_lengths
from bakehouse_runtime.errors import PlainError
from preferences import preference_rows, write_rows
from prepared import prepare
from train_spec import data_spec
from validate_spec import report_of, spec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", range(5))
def test_packs_as_tightly_as_trl(seed: int) -> None:
    from datasets import Dataset
    from trl import pack_dataset

    lengths = np.random.default_rng(seed).integers(1, 65, size=300)
    numbers = pack(lengths, 64)
    sums = np.bincount(numbers, weights=lengths)
    assert sums.max() <= 64
    assert sorted(set(numbers.tolist())) == list(range(len(sums)))
    rows = Dataset.from_list([{"input_ids": [1] * int(length)} for length in lengths])
    assert len(sums) == len(pack_dataset(rows, 64, "bfd"))
    assert packed_lengths(lengths, 64).tolist() == sums.tolist()


def test_does_not_pack_an_example_that_fills_a_sequence() -> None:
    assert pack(np.array([64, 60, 4, 5]), 64).tolist() == [0, 1, 1, 2]


def rows_of(tmp_path: Path) -> Path:
    rows = [{"q": f"why {at}?", "a": f"{'so ' * (at % 7)}there"} for at in range(60)]
    return write_rows(tmp_path / "x.jsonl", rows)


def test_report_counts_sequences_steps_and_tokens(tmp_path: Path, tied_model: Path) -> None:
    fields = spec(tied_model, rows_of(tmp_path))
    fields["data"]["max_chunk_size"] = 256
    plain = report_of(fields)
    fields["parameters"]["packing"] = True
    packed = report_of(fields)
    prepared = prepare(tmp_path / "x.jsonl", tied_model, max_chunk_size=256)
    lengths = prepared.trained_lengths(packing=True)
    assert prepared.limit == 256
    assert plain.packs is None
    assert packed.packs == len(lengths) < 0.3 * packed.train_examples
    assert packed.train_examples == plain.train_examples
    assert packed.train_tokens == plain.train_tokens == lengths.sum()
    assert packed.steps_total == 3 * -(-len(lengths) // 8)
    assert packed.steps_total < plain.steps_total
    assert packed.train_tokens < packed.train_padded_tokens
    assert packed.eval_padded_tokens == plain.eval_padded_tokens
    # Sequences are as long as the chunk.
    assert packed.memory_bytes > plain.memory_bytes


def test_rejects_a_base_with_recurrent_layers(tmp_path: Path, tied_model: Path) -> None:
    config = json.loads((tied_model / "config.json").read_text())
    require_packable(config, "sft")
    require_packable(config | {"layer_types": ["sliding_attention", "full_attention"]}, "sft")
    others: list[dict[str, Any]] = [
        {"layer_types": ["full_attention", "conv"]},
        {"layer_types": ["linear_attention"]},
        {"mamba_d_state": 16},
        {"model_type": "rwkv"},
        {"text_config": {"model_type": "qwen3_next", "linear_conv_kernel_dim": 4}},
    ]
    for other in others:
        with pytest.raises(PlainError, match="would leak into each other: switch packing off"):
            require_packable(config | other, "sft")
    (tied_model / "config.json").write_text(json.dumps(config | {"mamba_d_state": 16}))
    try:
        fields = spec(tied_model, rows_of(tmp_path))
        fields["parameters"]["packing"] = True
        (error,) = report_of(fields).critical_errors
    finally:
        (tied_model / "config.json").write_text(json.dumps(config))
    assert error.startswith("The base model (llama) has layers that read on from row to row")


def test_rejects_packing_for_objectives_that_compare_answers(
    tmp_path: Path, tied_model: Path
) -> None:
    path = write_rows(tmp_path / "x.jsonl", preference_rows())
    fields = spec(tied_model, path)
    unnamed: dict[str, Any] = {"input_column": None, "output_column": None}
    fields["data"] = data_spec(path.name, **unnamed).model_dump()
    fields["parameters"] |= {"objective": "dpo", "packing": True}
    (error,) = report_of(fields).critical_errors
    assert error.startswith("Packing is for SFT: switch it off, since DPO")
