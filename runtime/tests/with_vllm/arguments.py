"""Runs in vLLM's environment: parses command lines, parser names and answers as its server does."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import sys
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager
from vllm.utils.argparse_utils import FlexibleArgumentParser


def tokenizer_with(tokens: list[str]) -> PreTrainedTokenizerFast:
    """Returns a tokenizer of bytes and these tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(tokens)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def check_arguments(words: list[str], tokens: list[str]) -> dict[str, Any]:
    """Returns what vLLM understands; fails as its start would."""
    found = make_arg_parser(FlexibleArgumentParser()).parse_args(words)
    validate_parsed_serve_args(found)
    parser = ParserManager.get_parser(
        found.tool_call_parser,
        found.structured_outputs_config.reasoning_parser or found.reasoning_parser,
        found.enable_auto_tool_choice,
        is_harmony=found.tool_call_parser == "openai",
        tokenizer=tokenizer_with(tokens),
    )
    plain = {
        name: value
        for name, value in vars(found).items()
        if isinstance(value, (str, int, float, bool, type(None)))
    }
    return plain | {
        "parser": parser and parser.__name__,
        "enforces_strict": bool(parser and parser.tool_parser_cls.structural_tag_model),
        "lora_modules": [vars(one) for one in found.lora_modules or []],
    }


def parse_answer(case: dict[str, Any]) -> dict[str, Any]:
    """Returns the thought, text and calls of an answer."""
    tokenizer = tokenizer_with(case["tokens"])
    found = ParserManager.get_parser(case["tool_parser"], case["reasoning_parser"], True)
    request = ChatCompletionRequest.model_validate(
        {
            "model": "m",
            "messages": [{"role": "user", "content": "?"}],
            "tools": case["tools"],
            "tool_choice": "auto",
        }
    )
    parser = found(tokenizer, request.tools, chat_template_kwargs=case.get("template_options"))
    request = parser.adjust_request(request)
    ids = tokenizer(case["answer"])["input_ids"]
    thought, text, calls = parser.parse(case["answer"], request, True, ids)
    said = [{"name": call.name, "arguments": json.loads(call.arguments)} for call in calls or []]
    return {"thought": thought, "text": text, "calls": said}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    answers = {
        "commands": [check_arguments(**one) for one in asked.get("commands", [])],
        "answers": [parse_answer(one) for one in asked.get("answers", [])],
    }
    print(json.dumps(answers))
