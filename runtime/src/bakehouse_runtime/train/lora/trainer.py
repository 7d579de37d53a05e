"""Builds the trainer: base model, adapter, data and settings together.

Imports the heavy libraries at once, and is therefore itself imported late.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
import transformers
from peft import get_peft_model
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PrinterCallback,
    Trainer,
    set_seed,
)
from transformers.utils import logging
from trl import SFTTrainer
from trl.kernels import chunked_logprob
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from ...device import has_c_compiler, weights_dtype
from ...errors import PlainError, StopRequested
from ...files import SAFE_TOKENIZER, SAFE_WEIGHTS, read_optional_object
from .config import lora_config, sft_config
from .data import IGNORED, to_dataset

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel, TrainerCallback

    from ...data.prepared import Prepared
    from ...device import Device
    from ...protocol import TrainTextSpec


class _Evaluated(Trainer):
    """How every trainer here measures the held-out loss: the mean over all learnt tokens, whatever
    the batches. Trainer's own, a mean of the batches' means, depends on their size."""

    _loss_sum: Any = 0.0
    _tokens: Any = 0

    def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
        # An evaluation draws random numbers, which a run that was killed in it does not draw again:
        # what training draws must not depend on that.
        with torch.random.fork_rng():
            try:
                return super().evaluate(*args, **options)
            except StopRequested:
                # Trainer saves right after this, where the callback has asked for it.
                if self.is_in_train and self.control.should_save:
                    return {}
                raise

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        self._loss_sum, self._tokens = 0.0, 0
        output: Any = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        output.metrics[f"{metric_key_prefix}_loss"] = float(self._loss_sum / max(1, self._tokens))
        return output

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None, None]:
        inputs = self._prepare_inputs(inputs)
        tokens = int((inputs["labels"][:, 1:] != IGNORED).sum())
        with torch.no_grad(), self.compute_loss_context_manager():
            loss: Any = self.compute_loss(model, inputs)
        loss = loss.detach()
        self._loss_sum += float(loss) * tokens
        self._tokens += tokens
        return loss, None, None


class _SftTrainer(_Evaluated, SFTTrainer):
    def create_model_card(self, *_: Any, **__: Any) -> None:
        """TRL writes a card into every checkpoint; ours is written once, by `export`."""


class _TrainedPositions:
    """TRL's nll, from the model's own logits at the positions that are trained.

    TRL multiplies by `lm_head.weight` itself: on a GPU at the trained positions only, but on a CPU
    at all of them, which for short answers is a third of the work; and it refuses an adapter on
    lm_head, which it would pass by. Here the model makes the logits, and only where they count.
    """

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        targets = inputs["labels"][:, 1:]
        trained = targets != IGNORED
        positions = trained.any(dim=0).nonzero().squeeze(1)
        outputs = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            logits_to_keep=positions,
            use_cache=False,
        )
        trained = trained[:, positions]
        loss = torch.nn.functional.cross_entropy(
            outputs.logits[trained].float(), targets[:, positions][trained], reduction="sum"
        )
        count = trained.sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss / torch.as_tensor(count).clamp(min=1)
        return (loss, outputs) if return_outputs else loss


class _CpuTrainer(_TrainedPositions, _SftTrainer):
    pass


class _HeadTrainer(_TrainedPositions, _Evaluated):
    pass


def build_trainer(
    spec: TrainTextSpec,
    base: Path,
    checkpoints: Path,
    prepared: Prepared,
    modules: list[str],
    device: Device,
    steps_total: int,
    callbacks: list[TrainerCallback],
) -> Trainer:
    """A trainer that is ready to evaluate and to train."""
    # People read this log: warnings for developers who use the libraries stay out of it.
    warnings.filterwarnings("ignore", category=FutureWarning)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    arguments = sft_config(
        spec, device, checkpoints, steps_total, evaluates=len(prepared.held_out) > 0
    )
    model = _load(base, device)
    adapter = lora_config(spec.parameters.lora, modules)
    tokenizer = AutoTokenizer.from_pretrained(base, **SAFE_TOKENIZER)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    _leave_out_triton_without_compiler()
    common: dict[str, Any] = {
        "args": arguments,
        "data_collator": DataCollatorForLanguageModeling(tokenizer.pad_token_id),
        "train_dataset": to_dataset(prepared.train),
        "eval_dataset": to_dataset(prepared.held_out) if len(prepared.held_out) else None,
        "processing_class": tokenizer,
        "callbacks": callbacks,
    }
    if "lm_head" in modules:
        set_seed(arguments.seed)
        arguments.label_names = ["labels"]
        checkpointing = bool(arguments.activation_checkpointing)
        trainer = _HeadTrainer(_with_adapter(model, adapter, checkpointing), **common)
    else:
        kind = _SftTrainer if device == "cuda" else _CpuTrainer
        trainer = kind(model, peft_config=adapter, **common)
    if device == "cpu" and arguments.bf16:
        _narrow_frozen_matrices(trainer.model)
    # It prints every log line as a dict; the reporter says the same.
    trainer.remove_callback(PrinterCallback)
    return trainer


def _leave_out_triton_without_compiler() -> None:
    """Triton builds its launchers with a C compiler; where there is no Triton, as on Windows, TRL
    computes the same in torch."""
    if not has_c_compiler():
        chunked_logprob._TRITON_AVAILABLE = False


def _load(base: Path, device: Device) -> Any:
    """The base model. Raises PlainError for an architecture that only code of its own knows."""
    try:
        is_known = type(AutoConfig.from_pretrained(base, **SAFE_TOKENIZER)) in (
            MODEL_FOR_CAUSAL_LM_MAPPING
        )
    except (ValueError, KeyError) as error:
        raise _unknown_architecture(base) from error
    if not is_known:
        raise _unknown_architecture(base)
    return AutoModelForCausalLM.from_pretrained(base, dtype=weights_dtype(device), **SAFE_WEIGHTS)


def _unknown_architecture(base: Path) -> PlainError:
    named = (
        read_optional_object(base / "config.json").get("model_type") or "not named in config.json"
    )
    return PlainError(
        f"The base model cannot be trained (model type: {named}): only language models whose "
        f"architecture Transformers {transformers.__version__} knows can be. Code in a model's "
        "own repository is never run."
    )


def _narrow_frozen_matrices(model: Any) -> None:
    """Keeps the base's matrices in bfloat16, in which autocast multiplies them anyway: the same
    numbers without converting all of them in every step, and in half of the memory."""
    for module in model.modules():
        if type(module) is torch.nn.Linear and not module.weight.requires_grad:
            # Shared with the embeddings, whose float32 the residual stream needs.
            if module.weight is model.get_input_embeddings().weight:
                continue
            module.weight.data = module.weight.data.to(torch.bfloat16)


def _with_adapter(model: PreTrainedModel, adapter: Any, checkpointing: bool) -> Any:
    if checkpointing:
        model.enable_input_require_grads()
    adapted = get_peft_model(model, adapter)
    save = adapted.save_pretrained

    def save_without_base(*args: Any, **options: Any) -> None:
        save(*args, **{**options, "save_embedding_layers": False})

    # PEFT would store the base's whole lm_head in every checkpoint.
    adapted.save_pretrained = save_without_base
    return adapted
