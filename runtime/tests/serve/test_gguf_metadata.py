from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.serve.gguf_metadata import chat_template, context_length
from tiny_model import CHAT_TEMPLATE, write_tiny_gguf

if TYPE_CHECKING:
    from pathlib import Path


def test_reads_metadata_without_the_weights(tiny_model: Path, tmp_path: Path) -> None:
    with_template = write_tiny_gguf(tiny_model, tmp_path / "with.gguf")
    without = write_tiny_gguf(tiny_model, tmp_path / "without.gguf", template=None)
    assert [chat_template(path) for path in (with_template, without)] == [CHAT_TEMPLATE, None]
    assert context_length(without) == 256
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(without.read_bytes()[:40])
    assert context_length(broken) is None
    with pytest.raises(ValueError, match="not a complete GGUF"):
        chat_template(broken)
