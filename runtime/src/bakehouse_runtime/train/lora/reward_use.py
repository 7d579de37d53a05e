"""How a reward model is used: the snippet of its card."""

from __future__ import annotations

import json

_SNIPPET = """```python
import torch
from peft import PeftModel
from transformers import AutoModelForSequenceClassification, AutoTokenizer

base = {base}
adapter = "."  # the folder with these files

tokenizer = AutoTokenizer.from_pretrained(adapter)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.unk_token
model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
# By it the head finds the last token.
model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
model = PeftModel.from_pretrained(model, adapter).eval()

messages = [
    {{"role": "user", "content": "When does the bakery open?"}},
    {{"role": "assistant", "content": "At seven, with pleasure."}},
]
tokens = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)
with torch.no_grad():
    score = model(**tokens).logits.item()
```"""


def reward_use(base_id: str | None) -> str:
    """What it is for, and the code that scores an answer. `base_id`: how hubs call the base."""
    base = f"{json.dumps(base_id)}" if base_id else '"path/to/base-model"'
    return (
        "It scores how well a conversation ends, and writes no text: the higher the number, the "
        "better the last answer. Scores of answers to one question can be compared; the number by "
        "itself has no scale.\n\n" + _SNIPPET.format(base=base)
    )
