"""Tests which modules of a base get an adapter, and the parameter counts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.base_model import (
    BaseModel,
    read_base_model,
    trainable_parameters,
)
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import TextLoraSpec, TrainingParameters
from bakehouse_runtime.train.lora.run import read_inputs
from bakehouse_runtime.training_memory import training_memory
from prepared import prepare
from train_spec import train_spec
from validate_spec import MODULES, report_of, spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import Objective
    from bakehouse_server import BakehouseServer


def write_rows(path: Path, count: int) -> Path:
    path.write_text("q,a\nbroken\n" + "".join(f"question {i},answer {i}\n" for i in range(count)))
    return path


def test_counts_parameters_like_peft(tmp_path: Path, tiny_model: Path) -> None:
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


def test_full_fine_tune_trains_all_parameters_and_requires_llama_cpp_support(
    tmp_path: Path, tiny_model: Path, mixture: Path
) -> None:
    data = write_rows(tmp_path / "x.csv", 5)

    def whole(model: Path) -> dict[str, Any]:
        made = spec(model, data)
        return made | {"parameters": made["parameters"] | {"lora": None}}

    report = report_of(whole(tiny_model))
    assert report.trainable_parameters == report.base_parameters > 0
    assert report.gguf_obstacle is None
    adapter = report_of(spec(tiny_model, data))
    assert report.memory_bytes > adapter.memory_bytes + 10 * report.base_parameters
    # The file has one tensor per expert, llama.cpp one for all of them.
    assert "no place for model.layers" in (report_of(whole(mixture)).gguf_obstacle or "")


def test_derives_shapes_from_the_config_alone(
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


def test_skips_lm_head_of_tied_models_with_a_warning(tmp_path: Path, tied_model: Path) -> None:
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
            # The first layer is a single network, as in many mixture models.
            mlp_only_layers=[0],
            tie_word_embeddings=False,
        )
    )
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copyfile(tiny_model / name, folder / name)
    return folder


def test_excludes_experts_of_a_mixture_from_adapters_and_counts(
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
    # The loss only covers the answers, because routers are frozen.
    assert not trainer.aux_loss_enabled


def test_logits_use_gpu_memory_only_with_an_adapter_on_the_head(mixture: Path) -> None:
    base = read_base_model(mixture)
    wide = replace(base, vocabulary=base.vocabulary + 1)

    def bytes_per_logit(*modules: str, gpu: bool) -> float:
        parameters = TrainingParameters(
            epochs=1,
            learning_rate=1e-3,
            batch_size=8,
            eval_batch_size=4,
            gradient_accumulation_steps=1,
            lora=TextLoraSpec(r=8, alpha=16, dropout=0, target_modules=list(modules)),
        )
        one, other = (training_memory(model, parameters, 9, 64, gpu=gpu) for model in (wide, base))
        return (one - other) / (8 * 64)

    assert bytes_per_logit("q_proj", gpu=True) == 0
    assert bytes_per_logit("q_proj", "lm_head", gpu=True) == 20
    assert bytes_per_logit("q_proj", gpu=False) == 12


def test_full_fine_tune_uses_float32_and_a_reference_model(
    mixture: Path,
) -> None:
    base = read_base_model(mixture)
    twice = replace(base, shapes=base.shapes | {"more.weight": (base.parameters,)})

    def bytes_per_weight(objective: Objective, *, gpu: bool, batches: int = 2) -> float:
        parameters = TrainingParameters(
            objective=objective,
            epochs=1,
            learning_rate=1e-5,
            batch_size=8,
            eval_batch_size=4,
            gradient_accumulation_steps=batches,
            lora=None,
        )
        more, less = (
            training_memory(one, parameters, trainable_parameters(one, [], None), 64, gpu=gpu)
            for one in (twice, base)
        )
        return (more - less) / base.parameters

    assert bytes_per_weight("sft", gpu=False) == 20
    assert bytes_per_weight("sft", gpu=True) == 18
    # Gradients appear as activations are freed, and activations need more memory here.
    assert bytes_per_weight("sft", gpu=False, batches=1) == 16
    assert bytes_per_weight("sft", gpu=True, batches=1) == 18
    assert bytes_per_weight("dpo", gpu=False) == 24
    assert bytes_per_weight("grpo", gpu=True) == 22


def test_dpo_uses_the_memory_of_two_answers_and_one_tile_of_logits(mixture: Path) -> None:
    base = read_base_model(mixture)

    def peak(objective: Objective, batch_size: int, vocabulary: int, *, gpu: bool) -> int:
        parameters = TrainingParameters(
            objective=objective,
            epochs=1,
            learning_rate=1e-3,
            batch_size=batch_size,
            eval_batch_size=1,
            gradient_accumulation_steps=1,
            lora=TextLoraSpec(r=8, alpha=16, dropout=0, target_modules=["q_proj"]),
        )
        return training_memory(replace(base, vocabulary=vocabulary), parameters, 9, 64, gpu=gpu)

    # On a GPU two answers are two rows.
    assert peak("dpo", 4, 1000, gpu=True) == peak("sft", 8, 1000, gpu=True)
    # On a CPU the reference's layer is added, with the stored input of its adapter.
    layer = 1.15 * (18 * base.hidden_size + 6 * base.intermediate_size)
    added = peak("dpo", 4, 1000, gpu=False) - peak("sft", 8, 1000, gpu=False)
    assert added / (8 * 64) == pytest.approx(layer + 1000 * (34 - 12), abs=1)
    assert peak("dpo", 4, 32768, gpu=False) == peak("dpo", 4, 200_000, gpu=False)


def memory_of(base: BaseModel, *, gpu: bool, batch_size: int = 1, **changes: Any) -> int:
    lora = TextLoraSpec(
        r=8, alpha=16, dropout=0, target_modules=["q_proj"], use_dora=changes.pop("use_dora", False)
    )
    parameters = TrainingParameters(
        epochs=1,
        learning_rate=1e-3,
        batch_size=batch_size,
        eval_batch_size=1,
        gradient_accumulation_steps=1,
        lora=lora,
        **changes,
    )
    return training_memory(base, parameters, 9, 64, gpu=gpu)


def test_4_bit_base_keeps_embeddings_head_norms_and_experts_in_16_bits(mixture: Path) -> None:
    base = read_base_model(mixture)
    linear = {"model.layers.0.self_attn.q_proj.weight": (640, 256)}
    rest = {
        "model.layers.0.mlp.experts.0.gate_proj.weight": (512, 256),
        "model.layers.0.mlp.gate.weight": (4, 256),
        "model.layers.0.input_layernorm.weight": (256,),
        "model.embed_tokens.weight": (1000, 256),
        "lm_head.weight": (1000, 256),
    }
    base = replace(base, shapes=linear | rest)

    def saved(*, gpu: bool) -> int:
        return memory_of(base, gpu=gpu) - memory_of(base, gpu=gpu, load_in_4bit=True)

    weights = 640 * 256
    # As in bitsandbytes: codes, a scale per block of 64, and a scale per 256 scales.
    stored = weights // 2 + weights // 64 + 4 * weights // (64 * 256)
    # One matrix is in 16 bits while it is multiplied.
    assert saved(gpu=True) == 2 * weights - stored - 2 * weights
    more = replace(
        base, shapes=base.shapes | {f"model.layers.{at}.a.weight": (640, 256) for at in (1, 2)}
    )
    saved_more = memory_of(more, gpu=True) - memory_of(more, gpu=True, load_in_4bit=True)
    assert saved_more - saved(gpu=True) == 2 * (2 * weights - stored)
    assert saved(gpu=False) == 0


def test_dora_stores_both_outputs_and_measures_one_matrix_at_a_time(
    mixture: Path,
) -> None:
    base = read_base_model(mixture)
    shapes = {f"model.layers.{at}.self_attn.q_proj.weight": (640, 256) for at in range(base.layers)}
    base = replace(base, shapes=shapes)

    def added(batch_size: int, *, gpu: bool) -> int:
        of = {"gpu": gpu, "batch_size": batch_size}
        return memory_of(base, **of, use_dora=True) - memory_of(base, **of)

    for gpu, layers in ((True, 1), (False, base.layers)):
        assert added(3, gpu=gpu) - added(2, gpu=gpu) == 64 * layers * 4 * 640
    norms = 12 * 640 * 256 + 6 * 256**2
    assert added(1, gpu=True) == norms + 64 * 4 * 640
    copies = 7 * base.layers * 640 * 256
    assert added(1, gpu=False) == copies + norms + 64 * base.layers * 4 * 640


def test_rejects_modules_that_only_experts_have(tmp_path: Path, mixture: Path) -> None:
    specification = spec(mixture, write_rows(tmp_path / "x.csv", 5))
    # Routers are no linear modules either.
    specification["parameters"]["lora"]["target_modules"] = ["gate", "up_proj"]
    assert report_of(specification).target_errors == [
        "The base model has no linear module named gate. It has: k_proj, o_proj, q_proj, v_proj. "
        "Choose from these, or choose all-linear."
    ]


def with_config(model: Path, folder: Path, **changes: Any) -> Path:
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


@pytest.mark.parametrize(
    ("quantisation", "method"),
    [({"quant_method": "gptq", "bits": 4}, "gptq"), ({"bits": 4}, "by an unnamed method")],
)
def test_rejects_a_quantised_base_before_payment(
    tmp_path: Path, tiny_model: Path, quantisation: dict[str, Any], method: str
) -> None:
    model = with_config(tiny_model, tmp_path / "model", quantization_config=quantisation)
    report = report_of(spec(model, write_rows(tmp_path / "x.csv", 5)))
    assert report.critical_errors == [
        f"The base is quantized ({method}). Upload the unquantized weights."
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"model_type": "sourdough"},
        {"model_type": "sourdough", "auto_map": {"AutoConfig": "sourdough.SourdoughConfig"}},
        # Known, but not a language model.
        {"model_type": "vit"},
    ],
    ids=["unknown", "code of its own", "of pictures"],
)
def test_rejects_an_unknown_architecture_with_a_plain_sentence(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path, changes: dict[str, Any]
) -> None:
    from bakehouse_runtime.train.lora.trainer import build_trainer

    model = with_config(tiny_model, tmp_path / "model", **changes)
    training = train_spec(server, tmp_path, model)
    prepared = prepare(write_rows(tmp_path / "x.csv", 5), tiny_model)
    with pytest.raises(PlainError) as caught:
        build_trainer(training, model, tmp_path / "out", prepared, ["q_proj"], "cpu", 1, [])
    assert f"(model type: {changes['model_type']})" in str(caught.value)
    assert str(caught.value).endswith("Code in a model's own repository is never run.")


def test_names_modules_that_the_model_lacks(tmp_path: Path, tiny_model: Path) -> None:
    specification = spec(tiny_model, write_rows(tmp_path / "x.csv", 5))
    lora = specification["parameters"]["lora"]
    lora["target_modules"] = ["q_proj", "c_attn", "wi"]
    report = report_of(specification)
    assert report.critical_errors == []
    assert report.target_errors == [
        "The base model has no linear module named c_attn, wi. It has: down_proj, gate_proj, "
        "k_proj, o_proj, q_proj, up_proj, v_proj. Choose from these, or choose all-linear."
    ]
    lora["target_modules"] = ["q_proj", "w1"]
    assert "The base model has no modules named w1." in report_of(specification).warnings
