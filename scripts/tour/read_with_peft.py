"""Scores served answers with PEFT's own base model and adapter.

python read_with_peft.py BASE_DIR ADAPTER_DIR     with a JSON list of {question, answer} on stdin
prints a JSON list with the largest gap in log probability between PEFT's own next token and the
served one, per answer; 0 if all tokens are PEFT's own.
"""

from __future__ import annotations

import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging


def main(base_dir: str, adapter_dir: str) -> None:
    """Prints the gaps in the order of the answers."""
    logging.disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(base_dir, **local)
    base = AutoModelForCausalLM.from_pretrained(
        base_dir, dtype=torch.float32, use_safetensors=True, **local
    )
    model = PeftModel.from_pretrained(base, adapter_dir).eval()
    leads = []
    for served in json.load(sys.stdin):
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": served["question"]}], add_generation_prompt=True
        )["input_ids"]
        answer = tokenizer(served["answer"], add_special_tokens=False)["input_ids"]
        if not answer:
            leads.append(0.0)
            continue
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + answer])).logits[0]
        expected = logits[len(prompt) - 1 : -1].log_softmax(dim=-1)
        chosen = expected.gather(1, torch.tensor(answer)[:, None])[:, 0]
        leads.append(float((expected.max(dim=-1).values - chosen).max()))
    print(json.dumps(leads))


main(*sys.argv[1:])
