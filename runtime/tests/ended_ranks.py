"""Processes of a run that end before they start."""

from __future__ import annotations

import os
from typing import Any

from bakehouse_runtime.errors import PlainError


def fails(_ranks: Any, _port: int, leader: Any, _build: Any) -> None:
    leader.send(PlainError("The file is upside down."))
    os._exit(1)


def leaves(*_: Any) -> None:
    os._exit(3)
