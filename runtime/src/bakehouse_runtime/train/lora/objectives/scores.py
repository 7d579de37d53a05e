"""What a reward model says of answers: the scores that its head gives, as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from peft import PeftModel
from torch.nn.utils.rnn import pad_sequence

from ....data.templates.jinja_template import TemplateRefusalError
from ....data.tokens import read_model_tokens
from ....device import weights_dtype
from ....errors import PlainError
from ....rewards.models import tokens_of
from ..load import load_scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ....data.tokens import ModelTokens
    from ....device import Device
    from ....protocol import TrainTextSpec
    from ....rewards.models import RewardModel
    from ....rewards.rules import Answer


def load_scores(
    files: RewardModel, spec: TrainTextSpec, device: Device
) -> Callable[[Sequence[Answer]], list[float]]:
    """Loads a reward model beside the policy. What is trained draws the same random numbers with it
    as without."""
    tokens = read_model_tokens(files.adapter, spec.data.date)
    dtype = weights_dtype(device)
    with torch.random.fork_rng():
        base: Any = load_scorer(files.base, dtype)
        model: Any = PeftModel.from_pretrained(base, files.adapter, use_safetensors=True)
    model.requires_grad_(requires_grad=False).eval().to(device)
    config = base.config.get_text_config()
    # Whatever fills the batch is told apart by its mask; by this number the head finds the end.
    # Tokenizers of GPT-2's time name their tokens in the configuration of the model alone.
    named = read_model_tokens(files.base).special_tokens | tokens.special_tokens
    config.pad_token_id = _filling(named, tokens.tokenizer, config)
    limit = getattr(config, "max_position_embeddings", None)
    narrow = torch.bfloat16 if dtype == torch.float32 else dtype

    def scores(answers: Sequence[Answer]) -> list[float]:
        read = [_read(tokens, answer)[:limit] for answer in answers]
        ids = pad_sequence(
            [torch.tensor(one) for one in read],
            batch_first=True,
            padding_value=config.pad_token_id,
        )
        lengths = torch.tensor([len(one) for one in read])
        mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
        with (
            torch.inference_mode(),
            torch.autocast(device, dtype=narrow, enabled=dtype != torch.float32),
        ):
            logits = model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits
        return logits[:, 0].float().tolist()

    return scores


def _read(tokens: ModelTokens, answer: Answer) -> list[int]:
    try:
        return tokens_of(tokens, answer.asked, answer.text)
    except TemplateRefusalError as error:
        raise PlainError(
            "The chat template of the reward model cannot write an answer to one of the prompts: "
            f"{error}. Choose another reward model, or leave these prompts out."
        ) from error


def _filling(named: dict[str, str], tokenizer: Any, config: Any) -> int:
    """The token that fills a batch up: that of the tokenizer, as in its training. Raises PlainError
    where none is named."""
    names = (named.get(f"{kind}_token") for kind in ("pad", "eos", "unk"))
    found = next((tokenizer.token_to_id(name) for name in names if name), None)
    filling = config.pad_token_id if found is None else found
    if filling is None:
        raise PlainError("The reward model's tokenizer names no token that ends or fills a text.")
    return filling
