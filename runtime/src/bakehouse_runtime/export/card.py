from __future__ import annotations

from typing import TYPE_CHECKING

from ..protocol import ExportGgufSpec
from ..train.card import front_matter, one_line

if TYPE_CHECKING:
    from ..protocol import ExportSafetensorsSpec

_LICENSE_KEYS = ("license", "license_name", "license_link")


def model_card(
    spec: ExportSafetensorsSpec | ExportGgufSpec, compared: str, *, is_merged: bool = True
) -> str:
    """Returns the card in Markdown: its source, usage, and comparison."""
    is_gguf = isinstance(spec, ExportGgufSpec)
    repository = spec.fine_tune_repository
    metadata = {
        **{key: said for key in _LICENSE_KEYS if (said := getattr(spec, key)) is not None},
        **(
            {
                "base_model": repository,
                "base_model_relation": "quantized" if is_gguf else "merge",
            }
            if repository
            else {}
        ),
        **({} if is_gguf else {"library_name": "transformers"}),
        "pipeline_tag": "text-generation",
        "tags": [*(["gguf"] if is_gguf else []), "bakehouse"],
    }
    what = f"a GGUF in {spec.quantization}" if is_gguf else "safetensors"
    merged = " with its adapter merged into its base model" if is_merged else ""
    return "\n".join(
        [
            *front_matter(metadata),
            f"# {one_line(spec.title)}",
            "",
            f"{one_line(spec.fine_tune_title)}{merged}, as {what}, made with Bakehouse.",
            "",
            compared,
            "",
            "## Use",
            "",
            *(_gguf_use(spec.file_name) if is_gguf else _transformers_use()),
            "",
        ]
    )


def _gguf_use(name: str) -> list[str]:
    return [
        "With Ollama:",
        "",
        "```sh",
        f"ollama create {name.lower()} -f Modelfile",
        f"ollama run {name.lower()}",
        "```",
        "",
        "With llama.cpp:",
        "",
        "```sh",
        f"llama-server -m {name}.gguf",
        "```",
    ]


def _transformers_use() -> list[str]:
    return [
        "```python",
        "from transformers import AutoModelForCausalLM, AutoTokenizer",
        "",
        'model = AutoModelForCausalLM.from_pretrained("FOLDER", dtype="auto")',
        'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
        "```",
    ]
