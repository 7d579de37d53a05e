from __future__ import annotations

import itertools

import pytest

from bakehouse_runtime.data.segments import SentenceMethod, Span, pack, sentence_ends, windows

TEXT = (
    "Dr. Smith baked the bread. It was good!  Who ate it?\n\n"
    "A heading without a stop\n\n"
    "Dr. Smith ate it all. Dr. Smith was happy."
)


def sentences(text: str, method: SentenceMethod) -> list[Span]:
    return list(itertools.pairwise([0, *sentence_ends(text, method)]))


@pytest.mark.parametrize("method", ["regex", "spacy", "nltk"])
def test_sentences_cover_the_text_without_gaps(method: SentenceMethod) -> None:
    text = TEXT * 3
    spans = sentences(text, method)
    assert len(spans) > 3
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(spans))
    assert all(text[start:end].strip() for start, end in spans)


def test_spacy_and_nltk_know_abbreviations() -> None:
    for method in ("spacy", "nltk"):
        first = sentences(TEXT * 20, method)[0]
        assert TEXT[slice(*first)] == "Dr. Smith baked the bread."


def test_regex_splits_at_an_empty_line() -> None:
    found = [TEXT[start:end].strip() for start, end in sentences(TEXT, "regex")]
    assert "A heading without a stop" in found


def test_spacy_handles_texts_above_its_own_limit() -> None:
    text = "The bread is good. " * 80_000
    assert len(sentence_ends(text, "spacy")) == 80_000


def test_stores_a_sentence_in_eight_bytes() -> None:
    ends = sentence_ends("The bread is good. " * 10_000, "regex")
    assert len(ends) * ends.itemsize == 80_000


def test_a_text_of_white_space_has_no_sentences() -> None:
    assert sentences(" \n ", "regex") == []


def test_pack_fills_groups_and_repeats_whole_sentences() -> None:
    groups = list(pack([10, 10, 10, 10, 10], limit=30, overlap=10))
    assert groups == [range(0, 3), range(2, 5)]


def test_pack_progresses_with_any_overlap() -> None:
    sizes = [5, 40, 3, 3, 3, 100, 2]
    groups = list(pack(sizes, limit=20, overlap=19))
    assert sorted({i for group in groups for i in group}) == list(range(len(sizes)))
    starts = [group.start for group in groups]
    assert starts == sorted(set(starts))
    assert all(len(group) == 1 or sum(sizes[i] for i in group) <= 20 for group in groups)


def test_packs_no_sentences_into_no_groups() -> None:
    assert list(pack([], 10, 5)) == []


def test_windows_share_the_overlap_and_cover_everything() -> None:
    assert list(windows(10, 4, 1)) == [range(0, 4), range(3, 7), range(6, 10)]
    assert list(windows(3, 4, 1)) == [range(0, 3)]
    assert list(windows(5, 4, 3)) == [range(0, 4), range(1, 5)]
