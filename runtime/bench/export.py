"""Seconds in which one side makes a whole model in safetensors of a base and an adapter: the
product's export, or PEFT, as a person runs it without the product.

    PYTHONPATH=runtime/src python runtime/bench/export.py --run adapter --model DIR --adapter DIR
    ... --run ours|bare --model DIR --adapter DIR --out DIR
    ... --run check --model DIR --out DIR --other DIR

`adapter` writes one that changes every layer. `check` fails unless both sides have written the same
model. `./bakehouse bench` runs the sides in turns, each in the environment that it would have in
real use.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]

RANK = 16
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# Changes weights by about a tenth of their size, which rounding to 16 bits leaves visible.
CHANGE = 0.02
# How far two merged models may be apart, as a part of how far they are from the base: rounding.
APART = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", choices=["adapter", "ours", "bare", "check"], required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder with safetensors")
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--other", type=Path)
    options = parser.parse_args()
    started = time.perf_counter()
    {"adapter": write_adapter, "ours": ours, "bare": bare, "check": check}[options.run](options)
    print(json.dumps(time.perf_counter() - started))


def write_adapter(options: argparse.Namespace) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(5)
    config = LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=MODULES)
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(options.model), config)
    for name, values in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(values, std=CHANGE)
    model.save_pretrained(str(options.adapter))


def ours(options: argparse.Namespace) -> None:
    """The merging of an export, without its card and its comparison of answers."""
    from bakehouse_runtime.export.merge_safetensors import merge_safetensors

    options.out.mkdir()
    merge_safetensors(options.model, options.adapter, options.out, lambda *_: None)


def bare(options: argparse.Namespace) -> None:
    """What a person writes after reading PEFT's documentation."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = AutoModelForCausalLM.from_pretrained(options.model, dtype="auto")
    merged: Any = PeftModel.from_pretrained(base, str(options.adapter)).merge_and_unload()
    merged.save_pretrained(options.out)
    AutoTokenizer.from_pretrained(options.model).save_pretrained(options.out)


def check(options: argparse.Namespace) -> None:
    """Ends the process with a sentence where the two models are not the same one."""
    base, one, other = map(tensors_of, (options.model, options.out, options.other))
    if one.keys() != other.keys():
        sys.exit(f"Only one side has written {sorted(one.keys() ^ other.keys())[:3]}.")
    apart, changed = distance(one, other), distance(other, base)
    if not apart <= APART * changed:
        sys.exit(f"The two are {apart:.3g} apart, and {changed:.3g} from the base.")


def distance(one: Tensors, other: Tensors) -> float:
    """The root of the mean square of all differences."""
    squares = sum(float(np.square(one[name] - other[name]).sum()) for name in one)
    return (squares / sum(values.size for values in one.values())) ** 0.5


def tensors_of(folder: Path) -> Tensors:
    from safetensors.torch import load_file

    return {
        name: values.float().numpy()
        for file in folder.glob("*.safetensors")
        for name, values in load_file(file).items()
    }


if __name__ == "__main__":
    main()
