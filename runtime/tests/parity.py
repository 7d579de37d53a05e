"""Tests that a served adapter equals the trained one, up to rounding.

The first token is not compared if two tokens are closer than the rounding error, because another
processor or another order of summation may swap them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakehouse_server import AUTHORIZED_CLIENT

if TYPE_CHECKING:
    from torch import Tensor

    from serving import Serving

# llama.cpp stores keys and values as float16, and multiplies in float16 if weights are. The error
# is at most half of the last of its 11 bits, uniformly distributed: this is the standard deviation.
ROUNDING_DEVIATION = 2.0**-11 / 3**0.5
# Keys, values, and the input of each of the seven matrices.
ROUNDINGS_A_LAYER = 9
# About one of thirty thousand values exceeds this, and a test compares about six thousand.
DEVIATIONS = 4.0


@dataclass
class Comparison:
    """A served answer and PEFT's values for the same tokens."""

    text: str
    # The number of compared positions, and of all positions.
    compared: int
    tokens: int
    # The largest difference in the log-probability of a likely token.
    difference: float
    # The largest margin of PEFT's best token over the served token.
    lead: float
    bound: float

    @property
    def is_same(self) -> bool:
        """Returns whether the models differ only by rounding. If both logits are off by the bound,
        PEFT's best token may exceed the served token by two bounds."""
        return self.difference <= self.bound and self.lead <= 2 * self.bound


def rounding_bound(layers: int, logits: Tensor) -> float:
    """Returns how far rounding can move a logit: independent errors add up as the root of their
    number, each relative to the range of the logits above their mean.

    With the tiny model of the tests, the largest measured difference is a fifth of it.
    """
    roundings = layers * ROUNDINGS_A_LAYER + 1
    reach = float((logits.max(dim=-1).values - logits.mean(dim=-1)).max())
    return DEVIATIONS * roundings**0.5 * ROUNDING_DEVIATION * reach


def compare(
    serving: Serving, model: Any, prompt: list[int], scale: float, tokens: int = 16
) -> Comparison:
    """Generates a greedy answer with the served model, and scores it with PEFT in one pass."""
    import torch

    answer = AUTHORIZED_CLIENT.post(
        f"{serving.url}/completion",
        json={
            "prompt": prompt,
            "n_predict": tokens,
            "temperature": 0,
            "n_probs": 20,
            "return_tokens": True,
            "lora": [{"id": 0, "scale": scale}],
        },
        timeout=300,
    )
    answer.raise_for_status()
    body = answer.json()
    served = body["tokens"]
    # Tokens that end within a character have no probabilities, which shifts later positions; the
    # token list itself is complete.
    pairs = zip(body["completion_probabilities"], served, strict=False)
    steps = [step for step, _ in itertools.takewhile(lambda pair: pair[0]["id"] == pair[1], pairs)]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([prompt + served])).logits[0].float()
    logits = logits[len(prompt) - 1 : -1]
    expected = logits.log_softmax(dim=-1)
    differences = [
        abs(float(expected[place, top["id"]]) - top["logprob"])
        for place, step in enumerate(steps)
        for top in step["top_logprobs"]
    ]
    chosen = expected.gather(1, torch.tensor(served)[:, None])[:, 0]
    lead = float((expected.max(dim=-1).values - chosen).max())
    bound = rounding_bound(model.config.num_hidden_layers, logits)
    return Comparison(
        body["content"], len(steps), len(served), max(differences, default=0.0), lead, bound
    )
