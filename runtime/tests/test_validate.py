from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime import confined
from bakehouse_runtime.cli import main
from bakehouse_runtime.confined import run_confined
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import ValidateReport, ValidateSpec
from bakehouse_runtime.train.lora.train import read_inputs
from bakehouse_runtime.validate import validate
from train_spec import data_spec, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

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
    assert report["format"] == {
        "format": "prompt_completion",
        "input_column": "q",
        "output_column": "a",
        "system_column": None,
    }
    assert report["samples"][0] == {
        "turns": [
            {"role": "user", "content": "question 0", "learnt": False},
            {"role": "assistant", "content": "answer 0", "learnt": True},
        ],
        "parts": [
            {
                "text": "<|im_start|>user\nquestion 0<|im_end|>\n<|im_start|>assistant\n",
                "learnt": False,
            },
            {"text": "answer 0<|im_end|>\n", "learnt": True},
        ],
        "tokens": report["samples"][0]["tokens"],
    }
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


@pytest.fixture(scope="module")
def mixture(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny mixture model, with the tokenizer of the tiny Llama."""
    import torch
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

    folder = tmp_path_factory.mktemp("mixture") / "model"
    torch.manual_seed(1)
    model = Qwen3MoeForCausalLM(
        Qwen3MoeConfig(
            vocab_size=320,
            hidden_size=32,
            intermediate_size=48,
            moe_intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_experts=4,
            num_experts_per_tok=2,
            # The first layer is one network, as in many mixture models.
            mlp_only_layers=[0],
            tie_word_embeddings=False,
        )
    )
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copyfile(tiny_model / name, folder / name)
    return folder


def test_the_experts_of_a_mixture_get_no_adapter_and_are_not_counted(
    server: BakehouseServer, tmp_path: Path, mixture: Path
) -> None:
    from safetensors import safe_open

    from bakehouse_runtime.train.lora.trainer import build_trainer

    with safe_open(mixture / "model.safetensors", "np") as file:
        assert "model.layers.1.mlp.experts.3.down_proj.weight" in set(file.keys())
    modules = ["q_proj", "v_proj", "gate_proj", "down_proj"]
    specification = spec(mixture, write_rows(tmp_path / "x.csv", 20))
    specification["parameters"]["lora"]["target_modules"] = modules
    report = report_of(specification)
    assert report.critical_errors == []
    assert report.warnings == [
        "gate_proj, down_proj are left out: the experts of this mixture model stay as they are."
    ]
    training = train_spec(server, tmp_path, mixture, lora={"target_modules": modules})
    write_rows(tmp_path / "rows.csv", 20)
    targets, prepared = read_inputs(training, mixture, tmp_path)
    trainer: Any = build_trainer(
        training, mixture, tmp_path / "out", prepared, targets.modules, "cpu", 1, []
    )
    trained = [name for name, weight in trainer.model.named_parameters() if weight.requires_grad]
    assert report.trainable_parameters == sum(
        weight.numel() for weight in trainer.model.parameters() if weight.requires_grad
    )
    assert report.base_parameters == sum(
        weight.numel() for weight in trainer.model.parameters() if not weight.requires_grad
    )
    assert not any("experts" in name for name in trained)


def test_modules_that_only_experts_have_are_refused(tmp_path: Path, mixture: Path) -> None:
    specification = spec(mixture, write_rows(tmp_path / "x.csv", 5))
    # What routes to the experts is no plain matrix either.
    specification["parameters"]["lora"]["target_modules"] = ["gate", "up_proj"]
    assert report_of(specification).critical_errors == [
        "The base model has none of the chosen target modules. It has: k_proj, lm_head, o_proj, "
        "q_proj, v_proj."
    ]


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


def write_parquet_bomb(path: Path, rows: int, characters: int) -> Path:
    """A parquet file that says one long text again and again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = "".join(chr(97 + number * number % 26) for number in range(characters))
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    pq.write_table(pa.table({"q": pa.array(["why"] * rows), "a": column}), path)
    return path


def test_a_small_parquet_file_that_unpacks_to_much_is_read_in_pieces(tmp_path: Path) -> None:
    data = write_parquet_bomb(tmp_path / "x.parquet", rows=240, characters=1_000_000)
    assert data.stat().st_size < 100_000
    assert run_confined("x.parquet", longest_answer, data, memory_bytes=400 << 20) == 1_000_000


def test_a_small_parquet_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    data = write_parquet_bomb(tmp_path / "x.parquet", rows=5000, characters=1_000_000)
    with pytest.raises(PlainError, match=r"x\.parquet unpacks to more than 50 times its size"):
        longest_answer(data)


def longest_answer(data: Path) -> int:
    from bakehouse_runtime.data.conversations import Conversation
    from bakehouse_runtime.data.rows import read_rows

    rows = read_rows(data, data_spec(data.name)).rows
    return max(len(row.turns[1].content) for row in rows if isinstance(row, Conversation))


def test_what_takes_too_much_memory_is_named(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "MEMORY_BYTES", 1 << 29)
    data = tmp_path / "x.json"
    data.write_text('[{"q": "why", "a": "' + "because " * 40_000_000 + '"}]')
    assert report_of(spec(tiny_model, data)).critical_errors == [
        "Reading x.json takes more than 0.5 GB of memory: use a smaller file, or one with shorter "
        "texts."
    ]


def test_a_chat_template_that_never_ends_is_ended(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "TIME_LIMIT_S", 1.0)
    model = tmp_path / "endless"
    shutil.copytree(tiny_model, model)
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (model / "chat_template.jinja").write_text(loop)
    (error,) = report_of(spec(model, write_rows(tmp_path / "x.csv", 5))).critical_errors
    assert error.startswith("Reading x.csv took longer than")


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
    assert report.gguf_obstacle == (
        "Bakehouse does not know how llama.cpp stores the model family novel."
    )
    assert report.critical_errors == []
    config["text_config"] = dict(config)
    del config["num_hidden_layers"]
    (other / "config.json").write_text(json.dumps(config))
    assert report_of(spec(other, data)).gguf_obstacle == (
        "llama.cpp needs a base whose config.json names num_hidden_layers."
    )
