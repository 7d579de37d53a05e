"""What the cards of trained models share."""

from __future__ import annotations

import re

_REPOSITORY_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)


def origin(base_model_title: str, dataset_title: str) -> dict[str, object]:
    """The keys of a card's front matter that say what a model was made from. Hubs take only ids of
    repositories there (owner/name), and refuse a card with anything else: other titles stand in the
    card's text alone."""
    base, dataset = repository_id(base_model_title), repository_id(dataset_title)
    return {
        **({"base_model": base} if base else {}),
        **({"datasets": [dataset]} if dataset else {}),
    }


def repository_id(title: str) -> str | None:
    """The title, where it is the id of a repository on a hub."""
    return title if _REPOSITORY_ID.fullmatch(title) else None
