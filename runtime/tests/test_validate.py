from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.cli import main
from bakehouse_runtime.protocol import ValidateReport, ValidateSpec
from bakehouse_runtime.validate import validate

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MODULES = ["q_proj", "v_proj", "lm_head"]


def spec(model: Path, data: Path, **changes: Any) -> dict[str, Any]:
    return {
        "base_model_dir": str(model),
        "data_file": str(data),
        "data": {
            "file_path": data.name,
            "input_column": "q",
            "output_column": "a",
            "segmentation_method": "regex",
            "max_chunk_size": 64,
            "stride": 8,
            "min_segment_length": 4,
            "train_test_split": 0.8,
            "seed": 1,
        },
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


def write_rows(path: Path, count: int) -> Path:
    path.write_text("q,a\nbroken\n" + "".join(f"question {i},answer {i}\n" for i in range(count)))
    return path


def test_the_command_prints_one_report(
    tmp_path: Path, tied_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(spec(tied_model, write_rows(tmp_path / "x.csv", 20))))
    assert main(["validate", str(file)]) == 0
    report = json.loads(capsys.readouterr().out)
    ValidateReport.model_validate(report)
    assert report["columns"] == ["q", "a"]
    assert (report["rows_total"], report["rows_kept"], report["rows_dropped"]) == (21, 20, 1)
    assert report["dropped"] == [{"line": 2, "reason": "1 field instead of 2"}]
    assert (report["train_examples"], report["eval_examples"]) == (16, 4)
    assert report["steps_total"] == 6
    assert sum(bin["count"] for bin in report["token_histogram"]) == 20
    assert report["samples"][0]["trained_text"].startswith("answer ")
    assert report["samples"][0]["text"].startswith("<|im_start|>user\nquestion ")
    assert report["critical_errors"] == []


def test_parameters_are_counted_as_peft_counts_them(tmp_path: Path, tiny_model: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    report = report_of(spec(tiny_model, write_rows(tmp_path / "x.csv", 5)))
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    adapted = get_peft_model(base, LoraConfig(r=8, target_modules=MODULES))
    trainable, everything = adapted.get_nb_trainable_parameters()
    assert report.trainable_parameters == trainable
    assert report.base_parameters == everything - trainable
    assert not report.tied_embeddings
    assert report.memory_bytes > report.base_parameters * 4


def test_shapes_can_be_told_from_the_config_alone(
    tmp_path: Path, tiny_model: Path, tied_model: Path
) -> None:
    for model in (tiny_model, tied_model):
        bare = tmp_path / model.parent.name
        bare.mkdir()
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            (bare / name).write_bytes((model / name).read_bytes())
        data = write_rows(tmp_path / "x.csv", 5)
        without, with_weights = report_of(spec(bare, data)), report_of(spec(model, data))
        assert without.base_parameters == with_weights.base_parameters
        assert without.trainable_parameters == with_weights.trainable_parameters


def test_lm_head_is_left_out_of_tied_models_with_a_warning(
    tmp_path: Path, tied_model: Path
) -> None:
    report = report_of(spec(tied_model, write_rows(tmp_path / "x.csv", 5)))
    assert report.tied_embeddings
    assert any(warning.startswith("lm_head is left out") for warning in report.warnings)


def test_modules_that_the_model_lacks_are_named(tmp_path: Path, tiny_model: Path) -> None:
    specification = spec(tiny_model, write_rows(tmp_path / "x.csv", 5))
    lora = specification["parameters"]["lora"]
    lora["target_modules"] = ["q_proj", "c_attn", "wi"]
    report = report_of(specification)
    assert "The base model has no modules named c_attn, wi." in report.warnings
    assert report.critical_errors == []
    lora["target_modules"] = ["c_attn"]
    assert report_of(specification).critical_errors == [
        "The base model has none of the chosen target modules. It has: down_proj, gate_proj, "
        "k_proj, lm_head, o_proj, q_proj, up_proj, v_proj."
    ]


def test_what_makes_the_run_impossible_is_a_critical_error(
    tmp_path: Path, tiny_model: Path
) -> None:
    data = tmp_path / "x.csv"
    data.write_text("question,answer\n1,2\n")
    report = report_of(spec(tiny_model, data))
    assert report.critical_errors == ["x.csv has no column q. Its columns are: question, answer."]
    assert report.columns == ["question", "answer"]
    data.write_bytes(b"q,a\n\xff,1\n")
    assert "not UTF-8" in report_of(spec(tiny_model, data)).critical_errors[0]
    assert report_of(spec(tmp_path, data)).critical_errors == ["The base model has no config.json."]


def test_only_the_first_fifty_dropped_rows_are_listed(tmp_path: Path, tiny_model: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("q,a\n" + "broken\n" * 80 + "q,a\nq,a\n")
    report = report_of(spec(tiny_model, data))
    assert (report.rows_dropped, len(report.dropped)) == (80, 50)


def test_a_gpu_needs_half_of_the_weights_memory(tmp_path: Path, tiny_model: Path) -> None:
    data = write_rows(tmp_path / "x.csv", 5)
    report = report_of(spec(tiny_model, data))
    weights = report.base_parameters * 2
    libraries = 200_000_000
    assert report.gpu_memory_bytes - report.memory_bytes <= libraries - weights


def test_a_base_that_llama_cpp_does_not_know_is_told_before_training(
    tmp_path: Path, tiny_model: Path
) -> None:
    data = write_rows(tmp_path / "x.csv", 5)
    assert report_of(spec(tiny_model, data)).gguf_obstacle is None
    other = tmp_path / "other"
    shutil.copytree(tiny_model, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "novel"}))
    report = report_of(spec(other, data))
    assert report.gguf_obstacle == "llama.cpp does not know the model family novel."
    assert report.critical_errors == []
    config["text_config"] = dict(config)
    del config["num_hidden_layers"]
    (other / "config.json").write_text(json.dumps(config))
    assert report_of(spec(other, data)).gguf_obstacle == (
        "llama.cpp needs a base whose config.json names num_hidden_layers."
    )
