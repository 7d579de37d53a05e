"""Requests to image model servers, and their answers."""

from __future__ import annotations

import base64
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
    answer.raise_for_status()
    return [json.loads(line) for line in answer.read().splitlines()]


def picture(event: dict[str, Any]) -> np.ndarray:
    with Image.open(BytesIO(base64.b64decode(event["picture"]))) as opened:
        return np.asarray(opened).astype(int)
