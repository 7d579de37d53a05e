"""What can be known of a base model from its folder alone: shapes, sizes, LoRA targets."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .data.prepared import PAIRS
from .errors import PlainError
from .files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

    from .protocol import Objective, TextLoraSpec, TrainingParameters

Shape = tuple[int, ...]

# Modules by which PEFT understands the experts of a mixture model, even where single networks of it
# have them too. Files hold experts one by one, Transformers as one parameter of three dimensions:
# an adapter on that is nothing that the engines serve.
_EXPERT_MODULES = {"gate_proj", "up_proj", "down_proj", "w1", "w2", "w3"}
# What routes to experts holds a matrix, and is no linear layer.
_ROUTERS = {"gate", "router"}
# What layers are called that read by attention alone, and what configurations of others have.
_ATTENTION_LAYERS = {"full_attention", "sliding_attention", "chunked_attention"}
_RECURRENT = re.compile(r"mamba|ssm|rwkv|recurrent|linear_attention|linear_conv|conv_l_cache", re.I)
# Objectives that read answers by the base as well.
_COMPARED_WITH_BASE = frozenset({"dpo", "kto", "grpo"})
# Of TRL's `chunked_logprob`: its tiles, and what torch holds of one without Triton for each logit.
_TILE_TOKENS, _TILE_WORDS = 4096, 32768
_TILE_BYTES = 34
# For each weight that DoRA is trained on, on a CPU: docs/engine.md.
_DORA_COPY_BYTES = 7
# What a CPU's heap takes for pieces that are kept between others that are given back, as measured
# with glibc's, which maps pieces above 32 MiB alone.
_HEAP = 1.65


@dataclass(frozen=True)
class BaseModel:
    """A causal language model before anything loads it."""

    shapes: dict[str, Shape]
    layers: int
    hidden_size: int
    intermediate_size: int
    vocabulary: int
    max_positions: int | None
    tied_embeddings: bool

    @property
    def parameters(self) -> int:
        """How many numbers the weights have; tied embeddings count once."""
        return sum(math.prod(shape) for shape in self.shapes.values())


@dataclass(frozen=True)
class LoraTargets:
    """The chosen target modules that get an adapter, and what is said about the others."""

    modules: list[str]
    warnings: list[str]


def read_base_model(folder: Path) -> BaseModel:
    """Reads `config.json` and, where they are, the headers of the safetensors files.

    Raises PlainError when the folder holds no model that can be trained.
    """
    if not (folder / "config.json").is_file():
        raise PlainError("The base model has no config.json.")
    whole = read_optional_object(folder / "config.json")
    config = whole.get("text_config") or whole
    _refuse_quantised(whole.get("quantization_config") or config.get("quantization_config"))
    shapes: dict[str, Shape] = {}
    for file in sorted(folder.glob("*.safetensors")):
        shapes.update(_header(file))
    try:
        return _described(config, shapes or _llama_shapes(config))
    except KeyError as error:
        raise PlainError(f"The base model's config.json does not name {error.args[0]}.") from error


def lora_targets(base: BaseModel, wanted: list[str], objective: Objective = "sft") -> LoraTargets:
    """Which of the wanted modules this model has. Raises PlainError when none remains, and where
    the objective cannot train one of them."""
    experts = _expert_modules(base)
    linear = {name.split(".")[-2] for name in base.shapes if _is_layer_matrix(name, base)} - experts
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
    """What people call it."""
    return "Reward modeling" if objective == "reward" else objective.upper()


def trained_modules(base: BaseModel, parameters: TrainingParameters) -> LoraTargets:
    """The modules that get an adapter; none where all weights are trained. Raises as
    `lora_targets`, and where all of a reward model were to be."""
    lora = parameters.lora
    if lora is None and parameters.objective == "reward":
        raise PlainError("Reward modeling trains an adapter and a head: choose LoRA.")
    if lora is None:
        return LoraTargets([], [])
    return lora_targets(base, lora.target_modules, parameters.objective)


def leaves_whole_model(parameters: TrainingParameters) -> bool:
    """Whether what a run makes is a model by itself: no engine serves DoRA's magnitudes, so that
    they are merged into the base."""
    return parameters.lora is None or parameters.lora.use_dora


def new_tokens(parameters: TrainingParameters) -> int:
    """How many tokens the model writes to each prompt, at most; none where it only reads."""
    return parameters.max_new_tokens if parameters.objective == "grpo" else 0


def trainable_parameters(
    base: BaseModel, modules: list[str], lora: TextLoraSpec | None, objective: Objective = "sft"
) -> int:
    """Numbers in the adapter: r * (in + out) for every matrix that gets one, with DoRA one for each
    of its rows, and those of the head of a reward model; without an adapter, those of the base."""
    if lora is None:
        return base.parameters
    head = base.hidden_size if objective == "reward" else 0
    shapes = [base.shapes[f"{name}.weight"] for name in adapted(base, modules)]
    magnitudes = sum(rows for rows, _ in shapes) if lora.use_dora else 0
    return head + lora.r * sum(map(sum, shapes)) + magnitudes


def adapted(base: BaseModel, modules: list[str]) -> list[str]:
    """The full names of the matrices that get an adapter, e.g. `model.layers.0.mlp.up_proj`."""
    return [
        name.removesuffix(".weight")
        for name, shape in base.shapes.items()
        if name.split(".")[-2:-1] in [[module] for module in modules] and len(shape) == 2
    ]


def training_memory(
    base: BaseModel,
    parameters: TrainingParameters,
    trainable: int,
    sequence: int,
    *,
    gpu: bool,
) -> int:
    """Peak bytes of training: weights, what is trained with its optimiser, activations, logits;
    on a CPU also the best weights so far, which a GPU does not hold.

    Activations are all kept on a CPU, and recomputed per layer on a GPU (gradient checkpointing).
    DPO and reward modeling read two answers to each question. Objectives that compare with the base
    read them by it as well, beside what is kept. GRPO reads what it has written to each prompt;
    keys and values are kept while it writes, and given back before it trains. `sequence` is then
    that of the prompt alone.
    """
    compares = parameters.objective in _COMPARED_WITH_BASE
    sequences = _sequences(parameters)
    written = new_tokens(parameters)
    batch_tokens = sequences * (sequence + written)
    weights = _weights_memory(base, parameters, trainable, gpu=gpu)
    dora = _dora_activations(base, parameters)
    if gpu:
        layer = 34 * base.hidden_size + 6 * base.intermediate_size + dora
        kept = base.layers * base.hidden_size * 2 + layer
    else:
        all_layers = _kept_memory(base, parameters) + base.layers * dora
        kept = all_layers * (base.layers + int(compares)) // base.layers
    logits = _logits_memory(base, parameters, sequences * (written or sequence), gpu=gpu)
    # What keeps rows of a sequence apart: which token may read which, as truth and as number.
    masks = 5 * parameters.batch_size * sequence * sequence if parameters.packing else 0
    libraries = 1_500_000_000 if gpu else 700_000_000
    writes = parameters.objective == "grpo"
    writing = _writing_memory(base, sequences, batch_tokens, gpu=gpu) if writes else 0
    return weights + max(batch_tokens * kept + logits, writing) + masks + libraries


def _kept_memory(base: BaseModel, parameters: TrainingParameters) -> int:
    """Bytes that a CPU keeps of each token for the gradients, counted in Transformers' Llama.

    Of each layer both inputs of its norms in float32, what attention reads and writes, and three
    results of its feed-forward part in 16 bits. A matrix with an adapter keeps its own copy of its
    input, with dropout also what that was multiplied by, in float32. Where all weights are trained
    each matrix has such a copy, and the norms keep their results.
    """
    own = base.layers * (16 * base.hidden_size + 6 * base.intermediate_size)
    if parameters.lora is None:
        more = base.layers * (18 * base.hidden_size + 2 * base.intermediate_size)
    else:
        experts = _expert_modules(base)
        names = adapted(base, [one for one in parameters.lora.target_modules if one not in experts])
        inputs = sum(base.shapes[f"{name}.weight"][1] for name in names)
        more = inputs * (6 if parameters.lora.dropout > 0 else 2)
    return round((own + more) * _HEAP)


def _weights_memory(
    base: BaseModel, parameters: TrainingParameters, trainable: int, *, gpu: bool
) -> int:
    """Bytes of weights, gradients, Adam's two moments, and the best weights so far.

    An adapter trains in float32, on a base in bfloat16 on a GPU and in float32 on a CPU, which
    computes with copies in 16 bits and gives back most of the others. Where all
    weights are trained, they are float32 on both, since steps are smaller than what bfloat16 tells
    apart (https://arxiv.org/abs/1710.03740); autocast keeps them once more in 16 bits, in which the
    best ones are kept too. Objectives that compare with the base hold it a second time then.
    """
    if parameters.lora is not None:
        in_4_bits = gpu and parameters.load_in_4bit
        frozen = _quantised_memory(base) if in_4_bits else base.parameters * (2 if gpu else 5)
        return frozen + trainable * (16 if gpu else 20) + _dora_norms(base, parameters, gpu=gpu)
    reference = 4 if parameters.objective in _COMPARED_WITH_BASE else 0
    return base.parameters * ((18 if gpu else 20) + reference)


def scoring_memory(
    scorers: list[BaseModel], parameters: TrainingParameters, sequence: int, *, gpu: bool
) -> int:
    """Bytes of the reward models that stand beside what is trained, and of one layer's activations
    of what they read: all answers of a batch, each with its prompt of `sequence` tokens."""
    tokens = _sequences(parameters) * (sequence + new_tokens(parameters))
    layers = [tokens * (34 * one.hidden_size + 6 * one.intermediate_size) for one in scorers]
    weights = sum(one.parameters for one in scorers) * (2 if gpu else 4)
    return weights + max(layers, default=0)


def _quantised_memory(base: BaseModel) -> int:
    """Bytes of a base in NF4 with double quantisation (https://arxiv.org/abs/2305.14314), and of
    its largest matrix in 16 bits while that is multiplied.

    A weight of the linear layers takes 4 bits; 64 of them share 8 bits of scale, and 256 of those
    another 32. The rest is 16 bits wide, also experts, which Transformers has in one parameter.
    """
    linear = [
        math.prod(shape)
        for name, shape in base.shapes.items()
        if _is_layer_matrix(name, base) and ".experts." not in name
    ]
    each = 0.5 + 1 / 64 + 4 / (64 * 256)
    return int(2 * base.parameters - (2 - each) * sum(linear) + 2 * max(linear, default=0))


def _dora_activations(base: BaseModel, parameters: TrainingParameters) -> int:
    """Bytes that DoRA keeps of a token in a layer: what base and adapter say, each by itself."""
    return 4 * sum(rows for rows, _ in _dora_shapes(base, parameters)) // base.layers


def _dora_norms(base: BaseModel, parameters: TrainingParameters, *, gpu: bool) -> int:
    """Peak bytes while DoRA measures the rows of a matrix: PEFT multiplies the adapter out by an
    identity matrix, and adds it to the base. On a CPU also the copies of all of them that it
    multiplies by, which are kept for the gradients (measured)."""
    shapes = _dora_shapes(base, parameters)
    copies = 0 if gpu else _DORA_COPY_BYTES * sum(map(math.prod, shapes))
    peak = max((12 * rows * columns + 6 * columns**2 for rows, columns in shapes), default=0)
    return copies + peak


def _dora_shapes(base: BaseModel, parameters: TrainingParameters) -> list[Shape]:
    """Of the matrices that get a magnitude."""
    if parameters.lora is None or not parameters.lora.use_dora:
        return []
    modules = trained_modules(base, parameters).modules
    return [base.shapes[f"{name}.weight"] for name in adapted(base, modules)]


def attention_share(base: BaseModel, sequence: int) -> float:
    """What attention over a sequence of so many tokens takes in training, for each of them, as a
    part of what the matrices take: 12 operations per token before and dimension instead of 4 per
    parameter."""
    return 3 * sequence * base.hidden_size * base.layers / max(1, base.parameters)


def require_packable(config: dict[str, Any], objective: Objective) -> None:
    """Raises PlainError where examples cannot share a sequence without that one reads another."""
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


def _sequences(parameters: TrainingParameters) -> int:
    """How many sequences the largest batch has: both answers of a pair, or all that are written."""
    training, evaluating = parameters.batch_size, parameters.eval_batch_size
    if parameters.objective == "grpo":
        return max(training * parameters.generations, evaluating)
    return max(training, evaluating) * (2 if parameters.objective in PAIRS else 1)


def _writing_memory(base: BaseModel, sequences: int, tokens: int, *, gpu: bool) -> int:
    """Peak bytes while answers are written: the keys and values of all tokens, and of each
    sequence the logits and chances of its next token."""
    keys = [shape for name, shape in base.shapes.items() if name.endswith("k_proj.weight")]
    width = keys[0][0] if keys else base.hidden_size
    cache = 2 * base.layers * width * tokens * (2 if gpu else 4)
    return cache + 12 * sequences * base.vocabulary


def _logits_memory(
    base: BaseModel, parameters: TrainingParameters, tokens: int, *, gpu: bool
) -> int:
    """Peak bytes of what comes out of lm_head at so many tokens, those that may be learnt. A reward
    model has none, and gives one number for each token."""
    if parameters.objective == "reward":
        return 0
    if parameters.objective != "sft":
        # TRL computes it in tiles, which Triton folds on a GPU.
        places, words = min(tokens, _TILE_TOKENS), min(base.vocabulary, _TILE_WORDS)
        return 0 if gpu else places * words * _TILE_BYTES
    # On a GPU TRL computes the loss in tiles; with an adapter on lm_head logits are made, selected,
    # widened and differentiated.
    modules = parameters.lora.target_modules if parameters.lora else []
    has_head = "lm_head" in modules and not base.tied_embeddings
    return tokens * base.vocabulary * ((20 if has_head else 0) if gpu else 12)


def _refuse_quantised(quantisation: object) -> None:
    """An adapter is trained on weights as they are; what quantises them has kernels of its own."""
    if not quantisation:
        return
    method = quantisation.get("quant_method") if isinstance(quantisation, dict) else None
    raise PlainError(
        f"The base is quantised ({method or 'by an unnamed method'}). Upload the unquantised "
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


def _is_layer_matrix(name: str, base: BaseModel) -> bool:
    """A weight matrix inside the layers: those are numbered, embeddings are not."""
    parts = name.split(".")
    return (
        len(parts) > 2
        and parts[-1] == "weight"
        and len(base.shapes[name]) == 2
        and any(part.isdigit() for part in parts)
        and parts[-2] not in _ROUTERS
    )


def _expert_modules(base: BaseModel) -> set[str]:
    """The names of modules that stand for experts; none where the model is not a mixture."""
    return _EXPERT_MODULES if any(".experts." in name for name in base.shapes) else set()


def _header(file: Path) -> dict[str, Shape]:
    """Names and shapes of a safetensors file: 8 bytes of length, then a JSON header."""
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
    """The shapes that a Llama-like config stands for, when the weights are not at hand."""
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
