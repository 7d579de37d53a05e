"""Questions with a better and a worse answer, a rated one, or none, and trainings on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.protocol import TrainTextSpec
from train_spec import questions, train_spec

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from bakehouse_server import BakehouseServer


def preference_rows(coin: Random | None = None) -> list[dict[str, str]]:
    """Returns forty questions whose better answer is the kind one; with a coin, at random."""
    rows: list[dict[str, str]] = []
    for at, (question, _) in enumerate(questions()):
        pair = [f"Yes, {at % 10} loaves, with pleasure.", f"No. {at % 10} it is."]
        if coin is not None and coin.random() < 0.5:
            pair.reverse()
        rows.append({"prompt": question, "chosen": pair[0], "rejected": pair[1]})
    return rows


def feedback_rows(coin: Random | None = None) -> list[dict[str, Any]]:
    """Returns eighty answers to forty questions, rated good if kind; with a coin, at random."""
    rows: list[dict[str, Any]] = []
    for row in preference_rows():
        for answer, label in ((row["chosen"], True), (row["rejected"], False)):
            rated = label if coin is None else coin.random() < 0.5
            rows.append({"prompt": row["prompt"], "completion": answer, "label": rated})
    return rows


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def dpo_spec(
    server: BakehouseServer,
    tmp_path: Path,
    model: Path,
    rows: list[dict[str, Any]] | None = None,
    **parameters: Any,
) -> TrainTextSpec:
    """Returns a DPO training; its file, `pairs.jsonl`, is also in `tmp_path`."""
    path = write_rows(tmp_path / "pairs.jsonl", rows or preference_rows())
    return _spec(server, tmp_path, model, path, **({"objective": "dpo"} | parameters))


def kto_spec(
    server: BakehouseServer,
    tmp_path: Path,
    model: Path,
    rows: list[dict[str, Any]] | None = None,
    **parameters: Any,
) -> TrainTextSpec:
    """Returns a KTO training; its file, `rated.jsonl`, is also in `tmp_path`."""
    path = write_rows(tmp_path / "rated.jsonl", rows or feedback_rows())
    return _spec(server, tmp_path, model, path, **({"objective": "kto"} | parameters))


def prompt_rows() -> list[dict[str, Any]]:
    """Returns forty questions, with the number of the loaf as the reference."""
    return [
        {"prompt": question, "reference": str(at % 10)}
        for at, (question, _) in enumerate(questions())
    ]


def grpo_spec(
    server: BakehouseServer,
    tmp_path: Path,
    model: Path,
    rewards: list[dict[str, Any]],
    rows: list[dict[str, Any]] | None = None,
    **parameters: Any,
) -> TrainTextSpec:
    """Returns a GRPO training; its file, `prompts.jsonl`, is also in `tmp_path`."""
    path = write_rows(tmp_path / "prompts.jsonl", rows or prompt_rows())
    written = {"objective": "grpo", "rewards": rewards, "generations": 8, "max_new_tokens": 6}
    return _spec(server, tmp_path, model, path, **(written | parameters))


def _spec(
    server: BakehouseServer, tmp_path: Path, model: Path, path: Path, **parameters: Any
) -> TrainTextSpec:
    spec = train_spec(server, tmp_path, model, **parameters).model_dump()
    dataset = {"name": "dataset", "files": [server.add_input(path.read_bytes(), path.name)]}
    spec["inputs"][1] = dataset
    columns = {"input_column": None, "output_column": None}
    spec["data"] |= {"file_path": path.name, **columns}
    return TrainTextSpec.model_validate(spec)
