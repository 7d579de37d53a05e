"""Reads the shapes, sizes and LoRA targets of a base model from its folder, without loading it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
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
_ROUTERS = {"gate", "router"}
# Layer types that only use attention, and config names that indicate other kinds of layers.
_ATTENTION_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
_RECURRENT = re.compile(r"mamba|ssm|rwkv|recurrent|linear_attention|linear_conv|conv_l_cache", re.I)


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

    @property
    def parameters(self) -> int:
        """Returns the number of weights; tied embeddings count once."""
        return sum(math.prod(shape) for shape in self.shapes.values())


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
    _assert_unquantized(whole.get("quantization_config") or config.get("quantization_config"))
    shapes: dict[str, Shape] = {}
    for file in sorted(folder.glob("*.safetensors")):
        shapes.update(_header(file))
    try:
        return _described(config, shapes or _llama_shapes(config))
    except KeyError as error:
        raise PlainError(f"The base model's config.json does not name {error.args[0]}.") from error


def lora_targets(base: BaseModel, wanted: list[str], objective: Objective = "sft") -> LoraTargets:
    """Returns the wanted modules that this model has. Raises PlainError if none remains, or if the
    objective cannot train one of them."""
    experts = expert_modules(base)
    linear = {name.split(".")[-2] for name in base.shapes if is_layer_matrix(name, base)} - experts
    if not base.tied_embeddings:
        linear.add("lm_head")
    warnings = []
    if "lm_head" in wanted and base.tied_embeddings:
        warnings.append(
            "lm_head is left out: in this base model it is the same matrix as the input "
            "embeddings, and an adapter on one would change the other."
        )
    if left_out := [name for name in wanted if name in experts]:
        warnings.append(
            f"{', '.join(left_out)} are left out: the experts of this mixture model stay as they "
            "are."
        )
    missing = [name for name in wanted if name not in {*linear, *experts, "lm_head"}]
    if missing:
        warnings.append(f"The base model has no modules named {', '.join(missing)}.")
    modules = [name for name in wanted if name in linear]
    if not modules:
        raise PlainError(
            f"The base model has none of the chosen target modules. "
            f"It has: {', '.join(sorted(linear))}."
        )
    if objective != "sft" and "lm_head" in modules:
        raise PlainError(
            f"{objective_name(objective)} cannot train an adapter on lm_head: leave it out of the "
            "target modules, or choose the objective SFT."
        )
    return LoraTargets(modules, warnings)


def objective_name(objective: Objective) -> str:
    """Returns the display name of an objective."""
    return objective.upper()


def trained_modules(base: BaseModel, parameters: TrainingParameters) -> LoraTargets:
    """Returns the modules that get an adapter, or none for a full fine-tune. Raises as
    `lora_targets`."""
    lora = parameters.lora
    if lora is None:
        return LoraTargets([], [])
    return lora_targets(base, lora.target_modules, parameters.objective)


def exports_standalone_model(parameters: TrainingParameters) -> bool:
    """Returns whether the result is a standalone model. DoRA adapters are merged into the base,
    since no engine serves their magnitudes."""
    return parameters.lora is None or parameters.lora.use_dora


def new_tokens(parameters: TrainingParameters) -> int:
    """Returns the most tokens that the model generates per prompt; 0 if the objective does not
    generate."""
    return parameters.max_new_tokens if parameters.objective == "grpo" else 0


def trainable_parameters(base: BaseModel, modules: list[str], lora: TextLoraSpec | None) -> int:
    """Returns the number of trained weights: r * (in + out) for every adapted matrix, plus one per
    row with DoRA; without an adapter, all weights of the base."""
    if lora is None:
        return base.parameters
    shapes = [base.shapes[f"{name}.weight"] for name in adapted(base, modules)]
    magnitudes = sum(rows for rows, _ in shapes) if lora.use_dora else 0
    return lora.r * sum(map(sum, shapes)) + magnitudes


def adapted(base: BaseModel, modules: list[str]) -> list[str]:
    """Returns the full names of the adapted matrices, e.g. `model.layers.0.mlp.up_proj`."""
    return [
        name.removesuffix(".weight")
        for name, shape in base.shapes.items()
        if name.split(".")[-2:-1] in [[module] for module in modules] and len(shape) == 2
    ]


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
            f"Packing is for SFT: switch it off, since {objective_name(objective)} looks at each "
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


def _assert_unquantized(quantisation: object) -> None:
    """Adapters train on unquantised weights; quantised ones need kernels of their own."""
    if not quantisation:
        return
    method = quantisation.get("quant_method") if isinstance(quantisation, dict) else None
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
        vocabulary=int(config["vocab_size"]),
        max_positions=int(positions) if positions else None,
        tied_embeddings=bool(config.get("tie_word_embeddings", "lm_head.weight" not in shapes)),
    )


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
