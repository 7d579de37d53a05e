"""Tiny random models of several families with PEFT adapters, in the files that hubs have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiny_model import write_tiny_model

if TYPE_CHECKING:
    from pathlib import Path

TEXT: dict[str, Any] = {
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    "initializer_range": 0.2,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
FAMILIES = ("llama", "phi3", "gemma3", "qwen3_5")
_MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_PHI_MODULES = ["qkv_proj", "gate_up_proj"]
_LINEAR_ATTENTION = ["in_proj_qkv", "in_proj_z", "out_proj"]


def write_family(folder: Path, family: str) -> Path:
    """Writes a model as a hub has it: Gemma 3 and Qwen3.5 also read images."""
    import torch
    import transformers

    write_tiny_model(folder, tied=False)
    torch.manual_seed(7)
    config, model_class = _config(family), _CLASSES[family]
    (folder / "model.safetensors").unlink()
    getattr(transformers, model_class)(config).save_pretrained(folder)
    return folder


_CLASSES = {
    "llama": "LlamaForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "gemma3": "Gemma3ForConditionalGeneration",
    "qwen3_5": "Qwen3_5ForConditionalGeneration",
}


def _config(family: str) -> Any:
    import transformers

    if family == "llama":
        return transformers.LlamaConfig(**TEXT)
    if family == "phi3":
        return transformers.Phi3Config(**TEXT)
    if family == "gemma3":
        vision: dict[str, Any] = {
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
        }
        vision |= {"num_attention_heads": 2, "image_size": 56, "patch_size": 14}
        return transformers.Gemma3Config(
            text_config=TEXT | {"sliding_window": 64},
            vision_config=vision,
            mm_tokens_per_image=4,
            boi_token_index=3,
            eoi_token_index=4,
            image_token_index=5,
        )
    text = TEXT | {"layer_types": ["linear_attention", "full_attention"]}
    text |= {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
    text |= {"linear_key_head_dim": 128, "linear_value_head_dim": 128}
    vision: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 32,
        "depth": 1,
        "num_heads": 2,
    }
    vision |= {"out_hidden_size": 64, "num_position_embeddings": 16}
    return transformers.Qwen3_5Config(
        text_config=text,
        vision_config=vision,
        image_token_id=3,
        video_token_id=4,
        vision_start_token_id=5,
        vision_end_token_id=6,
    )


def write_encoder(folder: Path) -> Path:
    """Writes a BERT for embeddings in the layout of sentence-transformers."""
    import json

    import torch
    from transformers import BertConfig, BertModel

    write_tiny_model(folder, tied=False)
    (folder / "model.safetensors").unlink()
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    torch.manual_seed(7)
    # vLLM on a CPU knows heads of 32 and more.
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 1}
    config = BertConfig(vocab_size=320, num_hidden_layers=1, max_position_embeddings=128, **sizes)
    BertModel(config).save_pretrained(folder)
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": "1_Pooling" if kind == "Pooling" else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def write_adapter(
    base: Path, folder: Path, prompt: list[int], seed: int = 3
) -> dict[str, list[float]]:
    """Writes a random adapter as training does; returns the log-probabilities of the prompt's
    tokens from the second, by Transformers, with the base and with the adapter."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    names = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    wanted = [*_MODULES, *_PHI_MODULES, *_LINEAR_ATTENTION]
    targets = [name for name in wanted if name in names]
    peft = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=targets))
    torch.manual_seed(seed)
    for name, weight in peft.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    ids = torch.tensor([prompt])

    def logprobs() -> list[float]:
        with torch.no_grad():
            found = peft(input_ids=ids).logits.float().log_softmax(-1)[0, :-1]
        return found.gather(1, ids[0, 1:, None])[:, 0].tolist()

    tuned = logprobs()
    with peft.disable_adapter():
        plain = logprobs()
    peft.save_pretrained(str(folder))
    return {"base": plain, "tuned": tuned}


def write_caller(base: Path, folder: Path, asked: dict[str, Any], call: str) -> None:
    """Writes an adapter that answers a request with tools by this call. It is trained on the prompt
    that vLLM renders for the request."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from bakehouse_runtime.data.templates.tool_template import add_tools

    tokenizer = AutoTokenizer.from_pretrained(base)
    prompt = tokenizer.apply_chat_template(
        asked["messages"],
        tools=asked["tools"],
        chat_template=add_tools(tokenizer.chat_template),
        add_generation_prompt=True,
        return_dict=False,
    )
    answer = [*tokenizer.encode(call, add_special_tokens=False), tokenizer.eos_token_id]
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    torch.manual_seed(7)
    peft = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=_MODULES))
    optimizer = torch.optim.AdamW([one for one in peft.parameters() if one.requires_grad], lr=0.01)
    ids, labels = torch.tensor([prompt + answer]), torch.tensor([[-100] * len(prompt) + answer])
    for _ in range(200):
        loss = peft(input_ids=ids, labels=labels).loss
        if loss < 0.02:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    else:
        raise AssertionError("The adapter does not learn the call.")
    peft.save_pretrained(str(folder))
