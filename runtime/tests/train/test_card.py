from __future__ import annotations

import pytest

from bakehouse_runtime.train.card import origin


def test_a_card_names_what_hubs_know_by_its_id() -> None:
    assert origin("HuggingFaceTB/SmolLM2-135M", "tatsu-lab/alpaca") == {
        "base_model": "HuggingFaceTB/SmolLM2-135M",
        "datasets": ["tatsu-lab/alpaca"],
    }


@pytest.mark.parametrize("title", ["Tiny Llama", "tiny", "a/b/c", "My own/model", "/a", "a/"])
def test_a_title_that_is_no_id_is_left_out_of_the_front_matter(title: str) -> None:
    assert origin(title, title) == {}
