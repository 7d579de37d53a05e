"""Chat templates of well-known models, for tests."""

from __future__ import annotations

from pathlib import Path


def template_of(name: str) -> str:
    """A real template, as TRL brings it along."""
    import trl

    return (Path(str(trl.__file__)).parent / "chat_templates" / f"{name}.jinja").read_text()
