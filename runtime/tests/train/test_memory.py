"""Compares the reported peaks of starter runs with the estimate. It takes minutes on one core, so
it needs `pytest -m soak`. `tests/data/test_training_memory.py` has earlier measurements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.prepare import prepare_smollm2
from preferences import dpo_spec
from train_spec import finish, start, train_spec
from validate_spec import report_of

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import TrainTextSpec
    from bakehouse_server import BakehouseServer

pytestmark = pytest.mark.soak
WITHIN = 0.15
WORDS = [
    "flour",
    "water",
    "salt",
    "yeast",
    "oven",
    "loaf",
    "crust",
    "dough",
    "rye",
    "wheat",
    "bran",
]


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2")
    prepare_smollm2("safetensors", folder)
    return folder


def text(seed: int) -> str:
    """Returns 96 words, about 150 tokens for the starter."""
    return " ".join(WORDS[(seed + at * at) % len(WORDS)] for at in range(96))


def sft_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    """Returns a run in which nearly all tokens count in the loss."""
    rows = [{"q": "Bake!", "a": text(at)} for at in range(9)]
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    spec = train_spec(server, tmp_path, model, **parameters)
    dataset = {"name": "dataset", "files": [server.add_input(path.read_bytes(), path.name)]}
    return type(spec).model_validate(
        spec.model_dump()
        | {"inputs": [spec.inputs[0].model_dump(), dataset]}
        | {"data": spec.data.model_dump() | {"file_path": path.name, "max_chunk_size": 1024}}
    )


def pairs_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    rows = [{"prompt": "Bake!", "chosen": text(at), "rejected": text(at + 1)} for at in range(5)]
    return dpo_spec(server, tmp_path, model, rows, **parameters)


@pytest.mark.parametrize(
    ("make", "file", "parameters"),
    [
        (sft_spec, "long.jsonl", {"batch_size": 4}),
        (sft_spec, "long.jsonl", {"batch_size": 4, "lora": {"dropout": 0.0}}),
        (sft_spec, "long.jsonl", {"batch_size": 2, "lora": None}),
        (pairs_spec, "pairs.jsonl", {"batch_size": 2}),
    ],
    ids=["adapter", "without dropout", "all weights", "dpo"],
)
def test_the_estimate_matches_the_peak_of_a_run(
    server: BakehouseServer,
    tmp_path: Path,
    smollm2: Path,
    make: Any,
    file: str,
    parameters: dict[str, Any],
) -> None:
    alike = {"epochs": 1, "learning_rate": 1e-4, "eval_batch_size": parameters["batch_size"]}
    spec = make(server, tmp_path, smollm2, **alike, **parameters)
    report = report_of(
        {
            "base_model_dir": str(smollm2),
            "data_file": str(tmp_path / file),
            "data": spec.data.model_dump(),
            "parameters": spec.parameters.model_dump(),
        }
    )
    assert finish(start(spec), timeout_s=3600) == 0
    peak = server.reports[-1]["summary"]["peak_memory_bytes"]
    assert report.memory_bytes == pytest.approx(peak, rel=WITHIN)
