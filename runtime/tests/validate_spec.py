"""The spec of a validation, and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bakehouse_runtime.protocol import ValidateReport, ValidateSpec
from bakehouse_runtime.validate import validate
from train_spec import data_spec

MODULES = ["q_proj", "v_proj", "lm_head"]


def spec(model: Path, data: Path, **changes: Any) -> dict[str, Any]:
    return {
        "base_model_dir": str(model),
        "data_file": str(data),
        "data": data_spec(data.name).model_dump(),
        "parameters": {
            "epochs": 3,
            "learning_rate": 0.001,
            "batch_size": 4,
            "eval_batch_size": 4,
            "gradient_accumulation_steps": 2,
            "lora": {"r": 8, "alpha": 16.0, "dropout": 0.05, "target_modules": MODULES},
        },
    } | changes


def report_of(specification: dict[str, Any]) -> ValidateReport:
    return validate(ValidateSpec.model_validate(specification))
