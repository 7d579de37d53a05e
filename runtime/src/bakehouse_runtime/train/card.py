"""Shared parts of the cards of trained models."""

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
    """Returns the front-matter keys for the sources of a model. Hubs reject cards whose sources are
    not repository ids (owner/name), so other titles appear only in the text."""
    return _origin(repository_id(base_model_title), repository_id(dataset_title))


def trained_origin(spec: TrainSpec) -> dict[str, object]:
    """Returns the keys for the sources of a run, with the repository ids that the server has sent
    and the licence of the base, which also applies to the result."""
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
    """Returns the repository id of a text run's base model, or None."""
    sources = spec.sources
    return _named(sources.base_model) if sources else repository_id(spec.base_model_title)


def front_matter(data: Mapping[str, object]) -> list[str]:
    """Returns the lines before a card's text. JSON is valid YAML and avoids its quoting rules."""
    return [
        "---",
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()),
        "---",
    ]


def one_line(text: str) -> str:
    return " ".join(text.split())


def repository_id(title: str) -> str | None:
    """Returns the title if it is a repository id."""
    return title if _REPOSITORY_ID.fullmatch(title) else None


def _origin(base: str | None, dataset: str | None) -> dict[str, object]:
    return {
        **({"base_model": base} if base else {}),
        **({"datasets": [dataset]} if dataset else {}),
    }


def _named(repository: str | None) -> str | None:
    """Returns None for a non-public source, which a card must not name."""
    return repository and repository_id(repository)
