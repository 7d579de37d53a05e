"""Questions with a better and a worse answer, and trainings on them."""

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
    """Forty questions, of which the kind answer is the better one; with a coin by chance alone."""
    rows: list[dict[str, str]] = []
    for at, (question, _) in enumerate(questions()):
        pair = [f"Yes, {at % 10} loaves, with pleasure.", f"No. {at % 10} it is."]
        if coin is not None and coin.random() < 0.5:
            pair.reverse()
        rows.append({"prompt": question, "chosen": pair[0], "rejected": pair[1]})
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
    """A training by DPO whose file, `pairs.jsonl`, is also at hand in `tmp_path`."""
    path = write_rows(tmp_path / "pairs.jsonl", rows or preference_rows())
    spec = train_spec(server, tmp_path, model, **({"objective": "dpo"} | parameters)).model_dump()
    dataset = {"name": "dataset", "files": [server.add_input(path.read_bytes(), path.name)]}
    spec["inputs"][1] = dataset
    columns = {"input_column": None, "output_column": None}
    spec["data"] |= {"file_path": path.name, **columns}
    return TrainTextSpec.model_validate(spec)
