"""What training needs of memory at its peak, from the shapes of the base and the parameters alone:
docs/engine.md tells what each number was measured or counted with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .base_model import adapted, expert_modules, is_layer_matrix, new_tokens, trained_modules
from .data.prepared import PAIRS

if TYPE_CHECKING:
    from .base_model import BaseModel, Shape
    from .protocol import TrainingParameters

# Objectives that read answers by the base as well.
_COMPARED_WITH_BASE = frozenset({"dpo", "kto", "grpo"})
# Of TRL's `chunked_logprob`: its tiles, and what torch holds of one without Triton for each logit.
_TILE_TOKENS, _TILE_WORDS = 4096, 32768
_TILE_BYTES = 34
# For each weight that DoRA is trained on, on a CPU: docs/engine.md.
_DORA_COPY_BYTES = 7
# What a CPU's heap takes for pieces that are kept between others that are given back, as measured
# with glibc's where all threads share one (`share_one_heap`).
_HEAP = 1.15
# Of a process that has loaded them, before a model and on its way.
_CPU_LIBRARIES, _GPU_LIBRARIES = 1_150_000_000, 1_500_000_000


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
    DPO reads two answers to each question. Objectives that compare with the base also read them
    with the base, in addition to the activations that are kept. GRPO reads its own answers to
    each prompt; it keeps keys and values while it generates and frees them before it trains.
    `sequence` is then the length of the prompt alone.
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
    libraries = _GPU_LIBRARIES if gpu else _CPU_LIBRARIES
    writes = parameters.objective == "grpo"
    writing = _writing_memory(base, sequences, batch_tokens, gpu=gpu) if writes else 0
    gradients = _passing_gradients(base, parameters, gpu=gpu)
    most = max(batch_tokens * kept + logits, writing, gradients)
    return weights + most + masks + libraries


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
        experts = expert_modules(base)
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
    all_of_them = base.parameters * ((18 if gpu else 20) + reference)
    return all_of_them - _passing_gradients(base, parameters, gpu=gpu)


def _passing_gradients(base: BaseModel, parameters: TrainingParameters, *, gpu: bool) -> int:
    """Bytes of the gradients of all weights where a CPU holds them or activations: they come as
    these go, and go with each step. Those of several batches stay until all are done."""
    stay = parameters.gradient_accumulation_steps > 1
    return 0 if gpu or stay or parameters.lora is not None else 4 * base.parameters


def _quantised_memory(base: BaseModel) -> int:
    """Bytes of a base in NF4 with double quantisation (https://arxiv.org/abs/2305.14314), and of
    its largest matrix in 16 bits while that is multiplied.

    A weight of the linear layers takes 4 bits; 64 of them share 8 bits of scale, and 256 of those
    another 32. The rest is 16 bits wide, also experts, which Transformers has in one parameter.
    """
    linear = [
        math.prod(shape)
        for name, shape in base.shapes.items()
        if is_layer_matrix(name, base) and ".experts." not in name
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
    """Peak bytes of what comes out of lm_head at so many tokens, those that may be learnt."""
    if parameters.objective != "sft":
        # TRL computes it in tiles, which Triton folds on a GPU.
        places, words = min(tokens, _TILE_TOKENS), min(base.vocabulary, _TILE_WORDS)
        return 0 if gpu else places * words * _TILE_BYTES
    # On a GPU TRL computes the loss in tiles; with an adapter on lm_head logits are made, selected,
    # widened and differentiated.
    modules = parameters.lora.target_modules if parameters.lora else []
    has_head = "lm_head" in modules and not base.tied_embeddings
    return tokens * base.vocabulary * ((20 if has_head else 0) if gpu else 12)
