"""Reward models that GRPO is paid by, as far as their files tell without torch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ..base_model import read_base_model
from ..data.templates.jinja_template import TemplateRefusalError
from ..data.tokens import read_model_tokens
from ..errors import PlainError
from ..files import read_optional_object

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..base_model import BaseModel
    from ..data.tokens import ModelTokens
    from ..protocol import ModelReward, Reward


class RewardModel(NamedTuple):
    """The folder of its adapter, with the tokenizer, and that of its base."""

    adapter: Path
    base: Path


def folders_of(reward: ModelReward, inputs: Path) -> RewardModel:
    """Where the reward model lies among the inputs."""
    return RewardModel(inputs / reward.model, inputs / f"{reward.model}_base")


def find_model_fault(model: RewardModel, asked: str | None) -> str | None:
    """Why a reward model cannot score answers, the first prompt's for example; None: it can."""
    if read_optional_object(model.adapter / "adapter_config.json").get("task_type") != "SEQ_CLS":
        return "it is no adapter with a head that gives scores."
    try:
        read_base_model(model.base)
        tokens = read_model_tokens(model.adapter)
        if asked is not None:
            tokens_of(tokens, asked, "An answer.")
    except TemplateRefusalError as error:
        return f"its chat template cannot write an answer to the first prompt: {error}."
    except PlainError as error:
        return f"it cannot be read. {error}"
    return None


def tokens_of(tokens: ModelTokens, asked: str, answer: str) -> list[int]:
    """What a reward model reads of an answer: all of the conversation, as its chat template writes
    it. Raises TemplateRefusalError."""
    said = json.loads(asked)
    messages = [*said["messages"], {"role": "assistant", "content": answer}]
    (encoding,) = tokens.encode_batch([tokens.written(messages, said["tools"])])
    return encoding.ids


def read_scorers(rewards: Sequence[Reward], inputs: Path | None) -> list[BaseModel]:
    """The bases of the reward models, of one that is named twice twice. Raises PlainError."""
    if inputs is None:
        return []
    models = [folders_of(reward, inputs) for reward in rewards if reward.type == "model"]
    return [read_base_model(model.base) for model in models]
