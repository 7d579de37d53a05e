"""Reads the shapes, sizes and LoRA targets of a base model from its folder, without loading it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .errors import PlainError
from .files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from .protocol import Objective, TextLoraSpec, TrainingParameters

Shape = tuple[int, ...]

# Module names that PEFT treats as experts of a mixture model, even if its single networks use them
# too. Files store each expert separately, Transformers stores all in one three-dimensional
# parameter, and the engines cannot serve an adapter on that.
_EXPERT_MODULES = {"gate_proj", "up_proj", "down_proj", "w1", "w2", "w3"}
# Routers to experts hold a matrix but are no linear layer.
_ROUTERS = {"gate", "router", "shared_expert_gate"}
# The target that stands for all linear modules of the layers, as in PEFT.
ALL_LINEAR = "all-linear"
_EXPERTS_STAY = "The experts of this mixture model stay as they are."
# Names that may be missing with a warning: the defaults are the same for all families.
_USUAL_MODULES = {"q_proj", "k_proj", "v_proj", "o_proj", *_EXPERT_MODULES, "lm_head"}
_LANGUAGE = re.compile(r"(^|\.)language_model\.|^lm_head\.")
_OTHER_PARTS = re.compile(r"^(model\.)?(embed_)?(visual|vision\w*|audio\w*|multi_modal\w*|mtp)\.")
# Layer types that only use attention, and config names that indicate other kinds of layers.
_ATTENTION_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
_RECURRENT = re.compile(r"mamba|ssm|rwkv|recurrent|linear_attention|linear_conv|conv_l_cache", re.I)


def is_other_part(name: str) -> bool:
    """Returns whether a tensor belongs to an encoder of images or sounds, or to speculation."""
    return _OTHER_PARTS.search(name) is not None


@dataclass(frozen=True)
class BaseModel:
    """A causal language model, described without loading it."""

    shapes: dict[str, Shape]
    layers: int
    hidden_size: int
    intermediate_size: int
    vocabulary: int
    max_positions: int | None
    tied_embeddings: bool
    # Its weights are stored in MXFP4, and dequantized to be trained.
    is_mxfp4: bool = False

    @property
    def parameters(self) -> int:
        """Returns the number of weights; tied embeddings count once."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @cached_property
    def language_shapes(self) -> dict[str, Shape]:
        """Returns the shapes of the language model, without the other parts of the base."""
        is_split = any("language_model." in name for name in self.shapes)
        return {
            name: shape
            for name, shape in self.shapes.items()
            if (_LANGUAGE.search(name) if is_split else not is_other_part(name))
        }


@dataclass(frozen=True)
class LoraTargets:
    """The chosen target modules that get an adapter, and warnings about the others."""

    modules: list[str]
    warnings: list[str]


def read_base_model(folder: Path) -> BaseModel:
    """Reads `config.json` and the headers of any safetensors files.

    Raises PlainError if the folder holds no trainable model.
    """
    if not (folder / "config.json").is_file():
        raise PlainError("The base model has no config.json.")
    whole = read_optional_object(folder / "config.json")
    config = whole.get("text_config") or whole
    is_mxfp4 = _is_mxfp4(whole.get("quantization_config") or config.get("quantization_config"))
    shapes: dict[str, Shape] = {}
    for file in sorted(folder.glob("*.safetensors")):
        shapes.update(_header(file))
    try:
        described = _described(config, _dequantized(shapes) or _llama_shapes(config))
        return replace(described, is_mxfp4=is_mxfp4)
    except KeyError as error:
        raise PlainError(f"The base model's config.json does not name {error.args[0]}.") from error


class TargetError(PlainError):
    """The target modules cannot be trained in this base."""


def lora_targets(base: BaseModel, wanted: list[str], objective: Objective = "sft") -> LoraTargets:
    """Returns the wanted modules that this model has. Raises TargetError if none remains, if a free
    name matches no linear module, or if the objective cannot train one of them."""
    experts = expert_modules(base)
    linear, names = _linear_modules(base), resolve_targets(base, [ALL_LINEAR])
    if wanted == [ALL_LINEAR]:
        return LoraTargets(names, [_EXPERTS_STAY] if experts else [])
    warnings = []
    if "lm_head" in wanted and base.tied_embeddings:
        warnings.append(
            "lm_head is left out: in this base model it is the same matrix as the input "
            "embeddings, and an adapter on one would change the other."
        )
    if left_out := [name for name in wanted if name in experts]:
        warnings.append(
            f"{', '.join(left_out)} are left out: {_EXPERTS_STAY[0].lower()}{_EXPERTS_STAY[1:]}"
        )
    modules = [name for name in wanted if _matching(linear, [name])]
    missing = [name for name in wanted if name not in {*modules, *experts, "lm_head"}]
    has = f"It has: {', '.join(names)}. Choose from these, or choose {ALL_LINEAR}."
    if unknown := [name for name in missing if name not in _USUAL_MODULES]:
        raise TargetError(f"The base model has no linear module named {', '.join(unknown)}. {has}")
    if missing:
        warnings.append(f"The base model has no modules named {', '.join(missing)}.")
    if not modules:
        raise TargetError(f"The base model has none of the chosen target modules. {has}")
    if objective != "sft" and "lm_head" in modules:
        raise TargetError(
            f"{objective.upper()} cannot train an adapter on lm_head: leave it out of the "
            "target modules, or choose the objective SFT."
        )
    return LoraTargets(modules, warnings)


def resolve_targets(base: BaseModel, wanted: list[str]) -> list[str]:
    """Returns the target modules without experts, and all linear modules for ALL_LINEAR."""
    if wanted == [ALL_LINEAR]:
        return sorted({name.rpartition(".")[2] for name in _linear_modules(base)} - {"lm_head"})
    return [name for name in wanted if name not in expert_modules(base)]


def _linear_modules(base: BaseModel) -> list[str]:
    """Returns the full names of the linear modules of the language model, without experts."""
    experts = expert_modules(base)
    return [
        name.removesuffix(".weight")
        for name in base.language_shapes
        if (name.endswith("lm_head.weight") and not base.tied_embeddings)
        or (is_layer_matrix(name, base) and name.split(".")[-2] not in experts)
    ]


def trained_modules(base: BaseModel, parameters: TrainingParameters) -> LoraTargets:
    """Returns the modules that get an adapter, or none for a full fine-tune. Raises as
    `lora_targets`."""
    lora = parameters.lora
    if base.is_mxfp4 and parameters.load_in_4bit:
        raise PlainError("QLoRA cannot load a base in MXFP4: choose LoRA.")
    if lora is None:
        return LoraTargets([], [])
    return lora_targets(base, lora.target_modules, parameters.objective)


def exports_standalone_model(parameters: TrainingParameters) -> bool:
    """Returns whether the result is a standalone model. DoRA adapters are merged into the base,
    since no engine serves their magnitudes."""
    return parameters.lora is None or parameters.lora.use_dora


def max_generated_tokens(parameters: TrainingParameters) -> int:
    """Returns the most tokens that the model generates per prompt; 0 if the objective does not
    generate."""
    return parameters.max_new_tokens if parameters.objective == "grpo" else 0


def trainable_parameters(base: BaseModel, modules: list[str], lora: TextLoraSpec | None) -> int:
    """Returns the number of trained weights: r * (in + out) for every adapted matrix, plus one per
    row with DoRA; without an adapter, all weights of the language model."""
    if lora is None:
        return sum(math.prod(shape) for shape in base.language_shapes.values())
    shapes = [base.shapes[f"{name}.weight"] for name in adapted(base, modules)]
    magnitudes = sum(rows for rows, _ in shapes) if lora.use_dora else 0
    return lora.r * sum(map(sum, shapes)) + magnitudes


def adapted(base: BaseModel, modules: list[str]) -> list[str]:
    """Returns the full names of the adapted matrices, e.g. `model.layers.0.mlp.up_proj`."""
    return _matching(_linear_modules(base), modules)


def _matching(names: list[str], targets: list[str]) -> list[str]:
    """Returns the full names that match a target, as PEFT matches them."""
    ends = tuple(f".{target}" for target in targets)
    return [name for name in names if f".{name}".endswith(ends)]


def is_layer_matrix(name: str, base: BaseModel) -> bool:
    """Returns whether this is a weight matrix of a layer; layers are numbered, embeddings are
    not."""
    parts = name.split(".")
    return (
        len(parts) > 2
        and parts[-1] == "weight"
        and len(base.shapes[name]) == 2
        and any(part.isdigit() for part in parts)
        and parts[-2] not in _ROUTERS
    )


def expert_modules(base: BaseModel) -> set[str]:
    """Returns the names of expert modules; none if the model is not a mixture."""
    return _EXPERT_MODULES if any(".experts." in name for name in base.shapes) else set()


def attention_share(base: BaseModel, sequence: int) -> float:
    """Returns the cost of attention per token over a sequence of this length, relative to the cost
    of the matrices: 12 operations per earlier token and dimension instead of 4 per parameter."""
    return 3 * sequence * base.hidden_size * base.layers / max(1, base.parameters)


def require_packable(config: dict[str, Any], objective: Objective) -> None:
    """Raises PlainError if packed examples could attend to each other."""
    if objective != "sft":
        raise PlainError(
            f"Packing is for SFT: switch it off, since {objective.upper()} looks at each "
            "answer by itself."
        )
    text = config.get("text_config") or config
    layers = set(text.get("layer_types") or ()) - _ATTENTION_LAYERS
    names = [*text, *layers, str(text.get("model_type"))]
    found = next((name for name in names if _RECURRENT.search(str(name))), None)
    if found is not None or layers:
        kind = text.get("model_type") or "this model"
        raise PlainError(
            f"The base model ({kind}) has layers that read on from row to row, so that packed rows "
            "would leak into each other: switch packing off."
        )


def _is_mxfp4(quantisation: object) -> bool:
    """Returns whether Transformers can dequantize the base to train it. Raises PlainError for other
    quantised weights, which need kernels of their own."""
    if not quantisation:
        return False
    method = quantisation.get("quant_method") if isinstance(quantisation, dict) else None
    if method == "mxfp4":
        return True
    raise PlainError(
        f"The base is quantized ({method or 'by an unnamed method'}). Upload the unquantized "
        "weights."
    )


def _described(config: dict[str, Any], shapes: dict[str, Shape]) -> BaseModel:
    hidden = int(config.get("hidden_size") or config["n_embd"])
    positions = config.get("max_position_embeddings") or config.get("n_positions")
    return BaseModel(
        shapes=shapes,
        layers=int(config.get("num_hidden_layers") or config["n_layer"]),
        hidden_size=hidden,
        intermediate_size=int(
            config.get("intermediate_size") or config.get("n_inner") or 4 * hidden
        ),
        vocabulary=int(config.get("vocab_size") or _embedded_words(shapes)),
        max_positions=int(positions) if positions else None,
        tied_embeddings=bool(config.get("tie_word_embeddings", "lm_head.weight" not in shapes)),
    )


def _dequantized(shapes: dict[str, Shape]) -> dict[str, Shape]:
    """Returns the shapes after MXFP4, which stores 32 numbers as 16 bytes and a scale."""
    return {
        name.removesuffix("_blocks"): (*shape[:-2], shape[-2] * 32)
        if name.endswith("_blocks")
        else shape
        for name, shape in shapes.items()
        if not name.endswith("_scales")
    }


def _embedded_words(shapes: dict[str, Shape]) -> int:
    """Returns the rows of the embeddings, for a config.json that leaves out default values."""
    rows = (shape[0] for name, shape in shapes.items() if name.endswith("embed_tokens.weight"))
    found = next(rows, None)
    if found is None:
        raise KeyError("vocab_size")
    return found


def _header(file: Path) -> dict[str, Shape]:
    """Reads names and shapes of a safetensors file: 8 bytes of length, then a JSON header."""
    try:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            if size > min(100_000_000, file.stat().st_size):
                raise ValueError
            header = json.loads(stream.read(size))
        return {
            name: tuple(entry["shape"]) for name, entry in header.items() if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlainError(f"The base model's {file.name} is not a safetensors file.") from error


def _llama_shapes(config: dict[str, Any]) -> dict[str, Shape]:
    """Returns the shapes that a Llama-like config implies, for when the weights are not
    available."""
    hidden = int(config["hidden_size"])
    heads = int(config["num_attention_heads"])
    head = int(config.get("head_dim") or hidden // heads)
    keys = int(config.get("num_key_value_heads") or heads) * head
    inner = int(config["intermediate_size"])
    vocabulary = int(config["vocab_size"])
    layer: dict[str, Shape] = {
        "self_attn.q_proj": (heads * head, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, heads * head),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
    }
    shapes: dict[str, Shape] = {
        f"model.layers.{number}.{name}.weight": shape
        for number in range(int(config["num_hidden_layers"]))
        for name, shape in layer.items()
    }
    shapes["model.embed_tokens.weight"] = (vocabulary, hidden)
    shapes["model.norm.weight"] = (hidden,)
    if not config.get("tie_word_embeddings", False):
        shapes["lm_head.weight"] = (vocabulary, hidden)
    return shapes
