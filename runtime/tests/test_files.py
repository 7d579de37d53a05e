from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path


def test_writes_a_file_atomically(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.tar"
    with write_atomically(path) as partial:
        partial.write_text("first")
        assert not path.exists()
    with pytest.raises(OSError, match="full"), write_atomically(path) as partial:
        partial.write_text("half of the sec")
        raise OSError("full")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]
