"""Chat templates of well-known models."""

from __future__ import annotations

from pathlib import Path


def template_of(name: str) -> str:
    """Returns a real template that TRL ships."""
    import trl

    return (Path(str(trl.__file__)).parent / "chat_templates" / f"{name}.jinja").read_text()
