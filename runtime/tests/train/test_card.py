from __future__ import annotations

import pytest

from bakehouse_runtime.train.card import origin


def test_front_matter_has_repository_ids() -> None:
    assert origin("HuggingFaceTB/SmolLM2-135M", "tatsu-lab/alpaca") == {
        "base_model": "HuggingFaceTB/SmolLM2-135M",
        "datasets": ["tatsu-lab/alpaca"],
    }


@pytest.mark.parametrize("title", ["Tiny Llama", "tiny", "a/b/c", "My own/model", "/a", "a/"])
def test_front_matter_omits_titles_that_are_no_ids(title: str) -> None:
    assert origin(title, title) == {}
