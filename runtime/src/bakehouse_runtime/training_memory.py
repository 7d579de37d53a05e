"""Estimates the peak memory of training from the base's shapes and the parameters alone.
docs/engine.md describes how each number was measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .base_model import (
    adapted,
    is_layer_matrix,
    max_generated_tokens,
    resolve_targets,
    trainable_parameters,
)
from .data.prepared import PAIRS

if TYPE_CHECKING:
    from .base_model import BaseModel, Shape
    from .protocol import TrainingParameters

# Objectives that also run the base model on the answers.
_COMPARED_WITH_BASE = frozenset({"dpo", "kto", "grpo"})
# TRL's `chunked_logprob`: its tile sizes, and the bytes per logit that torch holds without Triton.
_TILE_TOKENS, _TILE_WORDS = 4096, 32768
_TILE_BYTES = 34
# Bytes for each weight of a matrix trained with DoRA on a CPU: docs/engine.md.
_DORA_COPY_BYTES = 7
_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "wpe.weight")
# Overhead of heap fragmentation on a CPU, measured with glibc when all threads share one heap
# (`use_single_malloc_arena`).
_HEAP = 1.15
# Bytes of a process that has loaded the libraries but no model.
_CPU_LIBRARIES, _GPU_LIBRARIES = 1_150_000_000, 1_500_000_000


def training_memory(
    base: BaseModel,
    parameters: TrainingParameters,
    trainable: int,
    sequence: int,
    *,
    gpu: bool,
) -> int:
    """Returns the peak bytes of training: weights, trained weights with optimiser state,
    activations and logits; on a CPU also a copy of the best weights, which a GPU does not hold.

    A CPU stores all activations; a GPU recomputes them per layer (gradient checkpointing). DPO
    reads two answers to each question. Objectives that compare with the base also run the base on
    them, in addition to the stored activations. GRPO reads its own answers to each prompt; it holds
    keys and values while it generates and frees them before it trains. `sequence` is then the
    length of the prompt alone.
    """
    compares = parameters.objective in _COMPARED_WITH_BASE
    sequences = _sequences(parameters)
    written = max_generated_tokens(parameters)
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
    # Attention masks that separate the rows of a packed sequence, as booleans and as floats.
    masks = 5 * parameters.batch_size * sequence * sequence if parameters.packing else 0
    libraries = _GPU_LIBRARIES if gpu else _CPU_LIBRARIES
    writes = parameters.objective == "grpo"
    writing = _writing_memory(base, sequences, batch_tokens, gpu=gpu) if writes else 0
    gradients = _passing_gradients(base, parameters, gpu=gpu)
    most = max(batch_tokens * kept + logits, writing, gradients)
    return weights + most + masks + libraries


def _kept_memory(base: BaseModel, parameters: TrainingParameters) -> int:
    """Returns the bytes per token that a CPU stores for the gradients, counted in Transformers'
    Llama.

    Per layer: both inputs of its norms in float32, the inputs and outputs of attention, and three
    results of its feed-forward part in 16 bits. A matrix with an adapter stores its own copy of its
    input, and with dropout also the float32 mask. A full fine-tune stores such a copy for each
    matrix, and the results of the norms.
    """
    own = base.layers * (16 * base.hidden_size + 6 * base.intermediate_size)
    if parameters.lora is None:
        more = base.layers * (18 * base.hidden_size + 2 * base.intermediate_size)
    else:
        names = adapted(base, resolve_targets(base, parameters.lora.target_modules))
        inputs = sum(base.shapes[f"{name}.weight"][1] for name in names)
        more = inputs * (6 if parameters.lora.dropout > 0 else 2)
    return round((own + more) * _HEAP)


def _weights_memory(
    base: BaseModel, parameters: TrainingParameters, trainable: int, *, gpu: bool
) -> int:
    """Returns the bytes of weights, gradients, Adam's two moments, and the copy of the best
    weights.

    An adapter trains in float32, on a base in bfloat16 on a GPU and in float32 on a CPU, which
    computes with 16-bit copies and frees most of the float32 ones. A full fine-tune trains in
    float32 on both, since bfloat16 cannot represent the small updates of a step
    (https://arxiv.org/abs/1710.03740). Autocast adds a 16-bit copy, and the best weights are stored
    in 16 bits too. Objectives that compare with the base then hold a second copy of it.
    """
    # 8-bit Adam has two moments of 8 bits, where 256 share a scale, instead of two of 32.
    saved = 6 - 8 / 256 if parameters.optimizer == "adamw_8bit" else 0
    if parameters.lora is not None:
        in_4_bits = gpu and parameters.load_in_4bit
        frozen = _quantized_memory(base) if in_4_bits else base.parameters * (2 if gpu else 5)
        trained = round(trainable * ((16 if gpu else 20) - saved))
        return frozen + trained + _dora_norms(base, parameters, gpu=gpu)
    reference = 4 if parameters.objective in _COMPARED_WITH_BASE else 0
    # The encoders of a multimodal base stay as they are.
    frozen = 4 * (base.parameters - trainable)
    shapes = base.language_shapes.items()
    # Transformers keeps 32 bits for embeddings.
    embedded = sum(math.prod(shape) for name, shape in shapes if name.endswith(_EMBEDDINGS))
    trained = trainable * (18 if gpu else 20) - round(saved * (trainable - embedded))
    held = frozen + trained + reference * base.parameters
    return held - _passing_gradients(base, parameters, gpu=gpu)


def _passing_gradients(base: BaseModel, parameters: TrainingParameters, *, gpu: bool) -> int:
    """Returns the gradient bytes of a full fine-tune on a CPU, which do not coexist with all
    activations: gradients appear as activations are freed, and are freed after each step. With
    gradient accumulation they persist, and this is 0."""
    stay = gpu or parameters.gradient_accumulation_steps > 1 or parameters.lora is not None
    return 0 if stay else 4 * trainable_parameters(base, [], None)


def _quantized_memory(base: BaseModel) -> int:
    """Returns the bytes of a base in NF4 with double quantisation
    (https://arxiv.org/abs/2305.14314), and of its largest matrix in 16 bits while it is multiplied.

    A weight of the linear layers takes 4 bits; 64 weights share 8 bits of scale, and 256 scales
    share another 32. Everything else is 16 bits wide, including experts, which Transformers stores
    in one parameter.
    """
    linear = [
        math.prod(shape)
        for name, shape in base.shapes.items()
        if is_layer_matrix(name, base) and ".experts." not in name
    ]
    each = 0.5 + 1 / 64 + 4 / (64 * 256)
    return int(2 * base.parameters - (2 - each) * sum(linear) + 2 * max(linear, default=0))


def _dora_activations(base: BaseModel, parameters: TrainingParameters) -> int:
    """Returns the bytes that DoRA stores per token and layer: the outputs of base and adapter,
    separately."""
    return 4 * sum(rows for rows, _ in _dora_shapes(base, parameters)) // base.layers


def _dora_norms(base: BaseModel, parameters: TrainingParameters, *, gpu: bool) -> int:
    """Returns the peak bytes while DoRA measures the rows of a matrix: PEFT multiplies the adapter
    by an identity matrix and adds it to the base. On a CPU this includes the copies of all matrices
    that are stored for the gradients (measured)."""
    shapes = _dora_shapes(base, parameters)
    copies = 0 if gpu else _DORA_COPY_BYTES * sum(map(math.prod, shapes))
    peak = max((12 * rows * columns + 6 * columns**2 for rows, columns in shapes), default=0)
    return copies + peak


def _dora_shapes(base: BaseModel, parameters: TrainingParameters) -> list[Shape]:
    """Returns the shapes of the matrices that get a magnitude."""
    if parameters.lora is None or not parameters.lora.use_dora:
        return []
    modules = resolve_targets(base, parameters.lora.target_modules)
    return [base.shapes[f"{name}.weight"] for name in adapted(base, modules)]


def _sequences(parameters: TrainingParameters) -> int:
    """Returns the number of sequences in the largest batch: both answers of a pair, or all
    generated answers."""
    training, evaluating = parameters.batch_size, parameters.eval_batch_size
    if parameters.objective == "grpo":
        return max(training * parameters.generations, evaluating)
    return max(training, evaluating) * (2 if parameters.objective in PAIRS else 1)


def _writing_memory(base: BaseModel, sequences: int, tokens: int, *, gpu: bool) -> int:
    """Returns the peak bytes of generation: keys and values of all tokens, and per sequence the
    logits and probabilities of its next token."""
    keys = [shape for name, shape in base.language_shapes.items() if name.endswith("k_proj.weight")]
    width = keys[0][0] if keys else base.hidden_size
    cache = 2 * base.layers * width * tokens * (2 if gpu else 4)
    return cache + 12 * sequences * base.vocabulary


def _logits_memory(
    base: BaseModel, parameters: TrainingParameters, tokens: int, *, gpu: bool
) -> int:
    """Returns the peak bytes of the output of lm_head for `tokens` tokens that count in the
    loss."""
    if parameters.objective != "sft":
        # TRL computes these in tiles, which Triton fuses on a GPU.
        places, words = min(tokens, _TILE_TOKENS), min(base.vocabulary, _TILE_WORDS)
        return 0 if gpu else places * words * _TILE_BYTES
    # On a GPU TRL computes the loss in tiles. An adapter on lm_head needs the logits, selected and
    # widened, with their gradients.
    modules = parameters.lora.target_modules if parameters.lora else []
    has_head = "lm_head" in modules and not base.tied_embeddings
    return tokens * base.vocabulary * ((20 if has_head else 0) if gpu else 12)
