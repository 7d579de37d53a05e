from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakehouse_runtime.data.builder import Examples, expected_padded_tokens, padded_tokens
from bakehouse_runtime.data.conversations import Rendered
from bakehouse_runtime.data.examples import prepare_examples, steps_per_epoch
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.turns import Turn
from bakehouse_runtime.errors import PlainError
from prepared import prepare, texts, with_begin_token, write_pairs
from train_spec import data_spec

if TYPE_CHECKING:
    from pathlib import Path


def test_renders_a_pair_with_the_chat_template_and_trains_on_its_answer(
    tmp_path: Path, tiny_model: Path
) -> None:
    from transformers import AutoTokenizer

    path = tmp_path / "x.csv"
    path.write_text("q,a\nWho bakes the bread?,Ada bakes it.\nsecond,row\n")
    prepared = prepare(path, tiny_model, train_test_split=0.5, seed=4)
    reference: Any = AutoTokenizer.from_pretrained(tiny_model)
    dialogues = [("Who bakes the bread?", "Ada bakes it."), ("second", "row")]
    ids = [
        reference.apply_chat_template(
            [{"role": "user", "content": q}, {"role": "assistant", "content": a}], tokenize=True
        )["input_ids"]
        for q, a in dialogues
    ]
    for examples in (prepared.train, prepared.held_out):
        assert len(examples) == 1
        found = examples.example(0).tolist()
        assert found in ids
        trained = reference.decode(examples.example(0)[examples.learnt_of(0)])
        assert trained == f"{dialogues[ids.index(found)][1]}<|im_end|>\n"


def test_joins_a_pair_by_a_line_break_without_a_chat_template(
    tmp_path: Path, tiny_model: Path
) -> None:
    model = tmp_path / "plain"
    model.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (model / name).write_bytes((tiny_model / name).read_bytes())
    prepared = prepare(write_pairs(tmp_path, 2), model)
    assert texts(prepared.train, read_model_tokens(model))[0] in {
        "Which is number 0?\nIt is 0.<|im_end|>",
        "Which is number 1?\nIt is 1.<|im_end|>",
    }
    assert any("no chat template" in warning for warning in prepared.warnings)


def test_adds_the_begin_of_text_token_to_a_pair_once(tmp_path: Path, tiny_model: Path) -> None:
    from transformers import AutoTokenizer

    path = tmp_path / "x.csv"
    path.write_text("q,a\nWho bakes?,Ada bakes it.\n")
    plain = with_begin_token(tiny_model, tmp_path / "plain", template=None)
    example = prepare(path, plain).train
    reference: Any = AutoTokenizer.from_pretrained(plain)
    assert example.example(0).tolist() == reference("Who bakes?\nAda bakes it.<|im_end|>").input_ids
    trained = example.example(0)[example.learnt_of(0)].tolist()
    assert reference.decode(trained) == "Ada bakes it.<|im_end|>"
    # The template writes the token itself.
    template = "<|im_start|>{{ messages[0].content }}{% for m in messages[1:] %}{{ m.content }}"
    chat = with_begin_token(tiny_model, tmp_path / "chat", template=template + "{% endfor %}")
    tokens = read_model_tokens(chat)
    assert texts(prepare(path, chat).train, tokens) == ["<|im_start|>Who bakes?Ada bakes it."]


def test_passes_the_date_of_the_spec_to_the_chat_template(tmp_path: Path, tiny_model: Path) -> None:
    template = "{{ strftime_now('%d %b %Y') }} {% for m in messages %}{{ m.content }}{% endfor %}"
    model = with_begin_token(tiny_model, tmp_path / "dated", template=template)
    tokens = read_model_tokens(model, "2026-11-20")
    rendered = tokens.conversation([Turn("user", "q"), Turn("assistant", "a")])
    assert rendered == Rendered("20 Nov 2026 qa", [(13, 14)], [1], is_ended=False)


def test_keeps_rows_of_one_question_on_one_side_of_the_split(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.jsonl"
    rows = [
        {"q": question, "a": f"It is {number}."}
        for number in range(40)
        for question in (f"Which is {number}?", f"  which IS  {number}? ", f"Say number {number}.")
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    prepared = prepare(path, tiny_model)
    tokens = read_model_tokens(tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (96, 24)

    def questions(examples: Examples) -> set[str]:
        asked = (text.split("\n")[1].split("<|im_end|>")[0] for text in texts(examples, tokens))
        return {" ".join(text.lower().split()) for text in asked}

    assert not questions(prepared.train) & questions(prepared.held_out)
    assert prepared.warnings == [
        "40 rows repeat the question of another row: rows with the same question "
        "are all trained on or all held out."
    ]


def test_splits_rows_with_the_same_question_by_their_answers(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"q": "Write a line.", "a": f"Line {number % 20}."} for number in range(40)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    prepared = prepare(path, tiny_model)
    tokens = read_model_tokens(tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (32, 8)
    assert not set(texts(prepared.train, tokens)) & set(texts(prepared.held_out, tokens))


def test_split_is_deterministic_and_depends_on_the_seed(tmp_path: Path, tiny_model: Path) -> None:
    path = write_pairs(tmp_path, 20)
    tokens = read_model_tokens(tiny_model)
    first, again = (prepare(path, tiny_model) for _ in range(2))
    other = prepare(path, tiny_model, seed=2)
    assert texts(first.train, tokens) == texts(again.train, tokens)
    assert texts(first.held_out, tokens) != texts(other.held_out, tokens)
    assert (len(first.train), len(first.held_out)) == (16, 4)
    assert not set(texts(first.train, tokens)) & set(texts(first.held_out, tokens))


def test_trains_on_a_single_row_and_holds_out_nothing(tmp_path: Path, tiny_model: Path) -> None:
    prepared = prepare(write_pairs(tmp_path, 1), tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (1, 0)
    assert any("only one distinct row" in warning for warning in prepared.warnings)


def test_truncates_long_answers_and_drops_questions_that_fill_the_chunk(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"q,a\nshort,row\nwhat,{'bread ' * 200}\n{'bread ' * 200},yes\nmore,rows\n")
    prepared = prepare(path, tiny_model)
    assert prepared.rows_total == 4
    assert prepared.rows_truncated == 1
    assert [(row.line, row.reason) for row in prepared.dropped.first] == [
        (4, "the question takes up all 64 tokens of the chunk")
    ]
    assert max(prepared.train.lengths().max(), prepared.held_out.lengths().max()) == 64


def test_fails_with_the_first_dropped_row_if_none_is_usable(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("q,a\n,1\n,2\n")
    with pytest.raises(PlainError, match=r"all 2 were dropped \(line 2: column q is empty\)"):
        prepare(path, tiny_model)
    path.write_text("q,a\n")
    with pytest.raises(PlainError, match="has no rows"):
        prepare(path, tiny_model)


@pytest.mark.parametrize("method", ["regex", "spacy", "nltk"])
def test_cuts_text_into_chunks_of_whole_sentences(
    tmp_path: Path, tiny_model: Path, method: str
) -> None:
    path = tmp_path / "x.txt"
    breads = ["dark rye", "white roll", "flat cake", "sweet bun", "long stick", "round loaf"]
    lines = [f"The loaf of day {i} is a {breads[i % 6]}." for i in range(40)]
    path.write_text("\n".join(lines))
    prepared = prepare(path, tiny_model, segmentation_method=method, stride=20)
    tokens = read_model_tokens(tiny_model)
    found = texts(prepared.train, tokens) + texts(prepared.held_out, tokens)
    assert all(text.startswith("The loaf") and text.endswith(".") for text in found)
    assert all(any(line in text for text in found) for line in lines)
    assert max(prepared.train.lengths()) <= 64
    assert len(prepared.held_out) > 0
    # The end of the text is held out, so that no held-out sentence was trained on.
    assert lines[-1] in found[-1]
    assert lines[-1] not in " ".join(texts(prepared.train, tokens))
    assert prepared.train.learnt.all()


def test_tokenizer_method_cuts_windows_over_all_tokens(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(" ".join(f"word{i}" for i in range(300)))
    prepared = prepare(path, tiny_model, segmentation_method="tokenizer", stride=10)
    lengths = prepared.train.lengths()
    assert set(lengths[:-1]) == {64}
    first, second = (prepared.train.example(i).tolist() for i in range(2))
    assert first[-10:] == second[:10]


def test_cuts_a_sentence_longer_than_a_chunk_into_windows(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("bread " * 500)
    prepared = prepare(path, tiny_model)
    assert max(prepared.train.lengths()) == 64
    assert len(prepared.train) > 5


def test_drops_short_segments_with_their_line(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\n\n".join(["The first sentence is long enough to stay here."] * 6 + ["End."]))
    prepared = prepare(path, tiny_model, max_chunk_size=30, stride=1, min_segment_length=8)
    assert [(row.line, row.reason[:13]) for row in prepared.dropped.first] == [
        (13, "a segment of ")
    ]


def test_rejects_a_stride_that_fills_the_chunk(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("The bread. " * 50)
    with pytest.raises(PlainError, match="stride of 64 must be smaller than the chunk size of 64"):
        prepare(path, tiny_model, stride=64)
    # Columns are never cut into windows: their stride does not matter.
    prepare(write_pairs(tmp_path, 3), tiny_model, stride=64)


def test_limits_chunks_to_the_context_of_the_model(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("The bread is good. " * 400)
    prepared = prepare(path, tiny_model, max_chunk_size=4096)
    assert max(prepared.train.lengths()) <= 256
    assert any("256 tokens at most" in warning for warning in prepared.warnings)


def test_counting_gives_the_same_examples_without_tokens(tmp_path: Path, tiny_model: Path) -> None:
    rows = write_pairs(tmp_path, 50)
    text = tmp_path / "x.txt"
    text.write_text("The bread is good. " * 400)
    for path in (rows, text):
        spec, tokens = data_spec(path.name), read_model_tokens(tiny_model)
        kept = prepare_examples(path, spec, tokens, 256)
        counted = prepare_examples(path, spec, tokens, 256, keep_tokens=False)
        for one, other in ((kept.train, counted.train), (kept.held_out, counted.held_out)):
            assert one.lengths().tolist() == other.lengths().tolist()
            assert len(other.tokens) == len(other.learnt) == 0
        assert kept.samples == counted.samples


def test_counts_steps_like_trainer() -> None:
    assert steps_per_epoch(160, 8, 1) == 20
    assert steps_per_epoch(161, 8, 1) == 21
    assert steps_per_epoch(161, 8, 4) == 6
    assert steps_per_epoch(1, 8, 4) == 1


@pytest.mark.parametrize("batch_size", [1, 2, 3, 16, 97, 100, 200])
def test_expected_padding_matches_random_batches(batch_size: int) -> None:
    random = np.random.default_rng(1)
    lengths = random.lognormal(5, 0.8, 100).astype(np.int64)
    shuffled = [padded_tokens(random.permutation(lengths), batch_size) for _ in range(2000)]
    expected = expected_padded_tokens(lengths, batch_size)
    assert expected == pytest.approx(np.mean(shuffled), rel=0.01)
    if batch_size == 1:
        assert expected == lengths.sum()


def test_pads_each_batch_to_its_longest_example() -> None:
    lengths = np.array([1, 5, 2, 2, 7], dtype=np.int64)
    assert padded_tokens(lengths, 2) == 10 + 4 + 7
    assert expected_padded_tokens(lengths[:3], 3) == 15
    assert padded_tokens(lengths[:0], 2) == expected_padded_tokens(lengths[:0], 2) == 0
