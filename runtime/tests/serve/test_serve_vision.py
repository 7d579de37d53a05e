from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_server import AUTHORIZED_CLIENT
from references.tiny_vision import SIDE, tiny_llava, write_projector
from serving import Serving, serve_spec
from tiny_model import write_tiny_gguf

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def pictures() -> list[Any]:
    import numpy as np

    shape = (SIDE, SIDE, 3)
    return [np.random.default_rng(seed).integers(0, 256, shape, np.uint8) for seed in (1, 2)]


def to_url(picture: Any) -> str:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def first_logprobs(model: Any, tokenizer: Any, picture: Any) -> tuple[int, dict[int, float]]:
    """Returns the number of prompt tokens, and the log-probabilities of the first token."""
    import torch

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    prompt = [
        *ids("<|im_start|>user\n"),
        *[model.config.image_token_id] * model.config.image_seq_length,
        *ids("Who bakes?<|im_end|>\n<|im_start|>assistant\n"),
    ]
    pixels = (torch.from_numpy(picture).float() / 255 - 0.5) / 0.5
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor([prompt]), pixel_values=pixels.permute(2, 0, 1)[None]
        ).logits[0, -1]
    return len(prompt), dict(enumerate(logits.log_softmax(-1).tolist()))


def test_sees_a_picture_like_transformers(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    from transformers import AutoTokenizer

    model = tiny_llava(tiny_model)
    gguf = write_tiny_gguf(tiny_model, tmp_path / "tiny.gguf")
    projector = write_projector(model, tmp_path / "mmproj.gguf")
    files = [server.add_input(gguf, "tiny.gguf"), server.add_input(projector, "mmproj.gguf")]
    spec = serve_spec(server, tmp_path, [{"name": "base_model", "files": files}])
    spec |= {"adapters": [], "projector_file": "mmproj.gguf"}
    serving = Serving(server, tmp_path, spec)
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    try:
        seen = []
        for picture in pictures():
            answer = AUTHORIZED_CLIENT.post(
                f"{serving.url}/v1/chat/completions",
                json={
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {"type": "image_url", "image_url": {"url": to_url(picture)}},
                                {"type": "text", "text": "Who bakes?"},
                            ],
                        }
                    ],
                    "max_tokens": 1,
                    "temperature": 0,
                    "logprobs": True,
                    "top_logprobs": 20,
                },
            ).json()
            count, expected = first_logprobs(model, tokenizer, picture)
            assert answer["usage"]["prompt_tokens"] == count
            top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            found = {token["id"]: token["logprob"] for token in top}
            # llama.cpp stores keys and values in 16 bits.
            assert found == pytest.approx({key: expected[key] for key in found}, abs=0.01)
            seen.append(found)
        assert seen[0] != pytest.approx(seen[1], abs=0.05)
    finally:
        serving.process.kill()
        serving.process.wait()
