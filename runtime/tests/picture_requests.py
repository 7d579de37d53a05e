"""Requests to image model servers, and their responses."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import httpx
import numpy as np
from PIL import Image


def request_body(**changed: Any) -> dict[str, Any]:
    return {
        "prompt": "a red apple on a table",
        "seed": 7,
        "steps": 4,
        "guidance": 7.5,
        "strategy": "topk",
        "k": 2,
        "preview_every": 2,
        "format": "png",
        "metadata": {"prompt": "a red apple on a table"},
    } | changed


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    """Returns the lines of a response; the last one has the `file` that followed it."""
    answer.raise_for_status()
    return parsed(answer.read())


def parsed(content: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while content:
        line, _, content = content.partition(b"\n")
        found.append(json.loads(line))
        if found[-1]["type"] == "done":
            assert len(content) == found[-1]["size_bytes"]
            found[-1]["file"] = content
            break
    return found


def picture(event: dict[str, Any]) -> np.ndarray:
    with Image.open(BytesIO(event["file"])) as opened:
        return np.asarray(opened).astype(int)
