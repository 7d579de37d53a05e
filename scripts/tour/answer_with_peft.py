"""Answers questions with a PEFT adapter on its base model, greedily.

python answer_with_peft.py BASE_DIR ADAPTER_DIR QUESTION...   prints a JSON list of answers
"""

from __future__ import annotations

import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

ANSWER_TOKENS = 64


def main(base_dir: str, adapter_dir: str, *questions: str) -> None:
    """Prints the answers in the order of the questions."""
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(base_dir)
    base = AutoModelForCausalLM.from_pretrained(base_dir, dtype=torch.float32)
    model = PeftModel.from_pretrained(base, adapter_dir).eval()
    answers = []
    for question in questions:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": question}],
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
        )
        tokens = model.generate(**prompt, max_new_tokens=ANSWER_TOKENS, do_sample=False)
        answer = tokens[0][prompt["input_ids"].shape[1] :]
        answers.append(tokenizer.decode(answer, skip_special_tokens=True).strip())
    print(json.dumps(answers))


main(*sys.argv[1:])
