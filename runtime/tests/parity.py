"""Whether a served adapter is the trained one: the same numbers, as far as rounding lets them be.

Which token comes out first is not asked where two tokens lie nearer together than rounding moves
them: there another processor, or another order of the same sums, may decide otherwise.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakehouse_server import ASKING

if TYPE_CHECKING:
    from torch import Tensor

    from serving import Serving

# llama.cpp keeps keys and values as float16, and multiplies in it where weights are float16. Such a
# number is off by at most half of the last of its 11 bits, evenly spread: this is the deviation.
ROUNDING_DEVIATION = 2.0**-11 / 3**0.5
# Keys, values, and what goes into each of the seven matrices.
ROUNDINGS_A_LAYER = 9
# So far out lies one of thirty thousand numbers, and a test compares about six thousand.
DEVIATIONS = 4.0


@dataclass
class Comparison:
    """A served answer beside what PEFT makes of the same tokens."""

    text: str
    # Places whose probabilities were compared, and all.
    compared: int
    tokens: int
    # The largest difference between the two in the logarithm of a likely token's probability.
    difference: float
    # How far PEFT's best token lies above the served one where that is furthest.
    lead: float
    bound: float

    @property
    def is_same(self) -> bool:
        """Whether nothing but rounding tells the two models apart. Where both are off by the bound,
        a token may come first that lies behind by two of them."""
        return self.difference <= self.bound and self.lead <= 2 * self.bound


def rounding_bound(layers: int, logits: Tensor) -> float:
    """How far rounding moves a logit: errors that have nothing to do with each other add up as the
    root of their number, each relative to how far the logits reach above their mean.

    Measured with the tiny model of the tests, the largest difference is a fifth of it.
    """
    roundings = layers * ROUNDINGS_A_LAYER + 1
    reach = float((logits.max(dim=-1).values - logits.mean(dim=-1)).max())
    return DEVIATIONS * roundings**0.5 * ROUNDING_DEVIATION * reach


def compare(
    serving: Serving, model: Any, prompt: list[int], scale: float, tokens: int = 16
) -> Comparison:
    """Lets the served model answer greedily, and PEFT's read the answer in one pass."""
    import torch

    answer = ASKING.post(
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
    # Tokens that end within a character come without probabilities, and the places behind them do
    # not agree; the tokens themselves are all there.
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
