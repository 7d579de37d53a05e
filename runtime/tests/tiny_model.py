"""A Llama of 0.1 million parameters with its own tokenizer, as safetensors and GGUF."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_TEXT = [
    "The house bread is a dark rye. The oven opens at four. Who bakes the bread?",
    "What is the name of the cat? The cat is called Crumpet and sleeps by the oven.",
]


def write_tiny_model(
    folder: Path, *, tied: bool, template: str | None = CHAT_TEMPLATE, begins: bool = False
) -> Path:
    """Writes config, weights, tokenizer and chat template; the weights are the same on every call.
    With `begins` the tokenizer adds the begin-of-text token to every text."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        _TEXT,
        trainers.BpeTrainer(
            vocab_size=320,
            special_tokens=_SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
    )
    fast.chat_template = template
    if begins:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{_SPECIAL[1]} $A", special_tokens=[(_SPECIAL[1], 1)]
        )
        fast.backend_tokenizer.post_processor = tokenizer.post_processor
    torch.manual_seed(7)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
            initializer_range=0.2,
            tie_word_embeddings=tied,
        )
    )
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def write_tiny_gguf(
    folder: Path, path: Path, *, template: str | None = CHAT_TEMPLATE, begins: bool = False
) -> Path:
    """Writes the same model for llama.cpp, in float32."""
    import json

    import gguf
    import numpy as np
    from safetensors.numpy import load_file

    from bakehouse_runtime.gguf_adapter import rotary_rows

    config = json.loads((folder / "config.json").read_text())
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]
    ids = {**vocabulary["vocab"], **{word: i for i, word in enumerate(_SPECIAL)}}
    words = sorted(ids, key=lambda word: ids[word])

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words)
    writer.add_token_types(
        [gguf.TokenType.CONTROL if word in _SPECIAL else gguf.TokenType.NORMAL for word in words]
    )
    writer.add_token_merges([" ".join(pair) for pair in vocabulary["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(begins)
    if template is not None:
        writer.add_chat_template(template)

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for key, values in load_file(folder / "model.safetensors").items():
        rows = np.asarray(values, dtype=np.float32)
        if "q_proj" in key:
            rows = rotary_rows(rows, config["num_attention_heads"])
        if "k_proj" in key:
            rows = rotary_rows(rows, config["num_key_value_heads"])
        name = names.get_name(key, try_suffixes=(".weight",))
        assert name is not None
        writer.add_tensor(name, rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
