"""What the cards of trained models share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..protocol import TrainFluxSpec, TrainParisSpec, TrainTextSpec

    TrainSpec = TrainTextSpec | TrainFluxSpec | TrainParisSpec

_REPOSITORY_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)


def origin(base_model_title: str, dataset_title: str) -> dict[str, object]:
    """The keys of a card's front matter that say what a model was made from. Hubs take only ids of
    repositories there (owner/name), and refuse a card with anything else: other titles stand in the
    card's text alone."""
    return _origin(repository_id(base_model_title), repository_id(dataset_title))


def trained_origin(spec: TrainSpec) -> dict[str, object]:
    """The same of a run, whose server has said how hubs call its sources; with the licence of
    the base, which holds for what is made from it."""
    sources = spec.sources
    if sources is None:
        return origin(spec.base_model_title, spec.dataset_title)
    said = {
        "license": sources.license,
        "license_name": sources.license_name,
        "license_link": sources.license_link,
    }
    return {
        **{key: value for key, value in said.items() if value is not None},
        **_origin(_named(sources.base_model), _named(sources.dataset)),
    }


def base_model_id(spec: TrainTextSpec) -> str | None:
    """How hubs call the base model of a text run; None where nobody has said."""
    sources = spec.sources
    return _named(sources.base_model) if sources else repository_id(spec.base_model_title)


def front_matter(data: Mapping[str, object]) -> list[str]:
    """The lines before a card's text. JSON is YAML, and needs no quoting rules of its own."""
    return [
        "---",
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()),
        "---",
    ]


def one_line(text: str) -> str:
    return " ".join(text.split())


def repository_id(title: str) -> str | None:
    """The title, where it is the id of a repository on a hub."""
    return title if _REPOSITORY_ID.fullmatch(title) else None


def _origin(base: str | None, dataset: str | None) -> dict[str, object]:
    return {
        **({"base_model": base} if base else {}),
        **({"datasets": [dataset]} if dataset else {}),
    }


def _named(repository: str | None) -> str | None:
    """None for a source that not everybody may read, which a card does not name."""
    return repository and repository_id(repository)
