from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.builder import Examples
from bakehouse_runtime.data.conversations import Rendered, Turn
from bakehouse_runtime.data.examples import Prepared, prepare_examples, steps_per_epoch
from bakehouse_runtime.data.tokens import ModelTokens, read_model_tokens
from bakehouse_runtime.errors import PlainError
from train_spec import data_spec

if TYPE_CHECKING:
    from pathlib import Path


def prepare(path: Path, model: Path, **changes: Any) -> Prepared:
    return prepare_examples(path, data_spec(path.name, **changes), read_model_tokens(model), 256)


def write_pairs(folder: Path, count: int) -> Path:
    path = folder / "pairs.jsonl"
    rows = [{"q": f"Which is number {i}?", "a": f"It is {i}."} for i in range(count)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def texts(examples: Examples, tokens: ModelTokens) -> list[str]:
    return [
        tokens.tokenizer.decode(examples.example(i).tolist(), skip_special_tokens=False)
        for i in range(len(examples))
    ]


def test_a_pair_becomes_the_chat_templates_dialogue_and_only_its_answer_is_trained(
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


def test_without_a_chat_template_the_pair_is_joined_by_a_line_break(
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


def with_begin_token(model: Path, folder: Path, *, template: str | None) -> Path:
    """The model's tokenizer as those of Llama, Mistral and Gemma are: whatever is encoded begins
    with the begin-of-text token, unless that is switched off."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing

    folder.mkdir()
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    begin = tokenizer.token_to_id("<|im_start|>")
    tokenizer.post_processor = TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", begin)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((model / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": template}))
    return folder


def test_a_pair_begins_with_the_models_begin_of_text_token_once(
    tmp_path: Path, tiny_model: Path
) -> None:
    from transformers import AutoTokenizer

    path = tmp_path / "x.csv"
    path.write_text("q,a\nWho bakes?,Ada bakes it.\n")
    plain = with_begin_token(tiny_model, tmp_path / "plain", template=None)
    example = prepare(path, plain).train
    reference: Any = AutoTokenizer.from_pretrained(plain)
    assert example.example(0).tolist() == reference("Who bakes?\nAda bakes it.<|im_end|>").input_ids
    trained = example.example(0)[example.learnt_of(0)].tolist()
    assert reference.decode(trained) == "Ada bakes it.<|im_end|>"
    # A template writes the token itself.
    template = "<|im_start|>{{ messages[0].content }}{% for m in messages[1:] %}{{ m.content }}"
    chat = with_begin_token(tiny_model, tmp_path / "chat", template=template + "{% endfor %}")
    tokens = read_model_tokens(chat)
    assert texts(prepare(path, chat).train, tokens) == ["<|im_start|>Who bakes?Ada bakes it."]


def test_a_chat_template_that_asks_for_the_date_gets_that_of_the_spec(
    tmp_path: Path, tiny_model: Path
) -> None:
    template = "{{ strftime_now('%d %b %Y') }} {% for m in messages %}{{ m.content }}{% endfor %}"
    model = with_begin_token(tiny_model, tmp_path / "dated", template=template)
    tokens = read_model_tokens(model, "2026-11-20")
    rendered = tokens.conversation([Turn("user", "q"), Turn("assistant", "a")])
    assert rendered == Rendered("20 Nov 2026 qa", [(13, 14)], [1], is_ended=False)


def test_the_rows_of_one_question_are_never_on_both_sides(tmp_path: Path, tiny_model: Path) -> None:
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
        "40 rows repeat the question of another row: those of one question are all trained on or "
        "all held out."
    ]


def test_rows_that_all_ask_the_same_are_told_apart_by_their_answers(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"q": "Write a line.", "a": f"Line {number % 20}."} for number in range(40)]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    prepared = prepare(path, tiny_model)
    tokens = read_model_tokens(tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (32, 8)
    assert not set(texts(prepared.train, tokens)) & set(texts(prepared.held_out, tokens))


def test_the_split_is_the_same_every_time_and_changes_with_the_seed(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = write_pairs(tmp_path, 20)
    tokens = read_model_tokens(tiny_model)
    first, again = (prepare(path, tiny_model) for _ in range(2))
    other = prepare(path, tiny_model, seed=2)
    assert texts(first.train, tokens) == texts(again.train, tokens)
    assert texts(first.held_out, tokens) != texts(other.held_out, tokens)
    assert (len(first.train), len(first.held_out)) == (16, 4)
    assert not set(texts(first.train, tokens)) & set(texts(first.held_out, tokens))


def test_a_single_row_is_trained_on_and_nothing_is_held_out(
    tmp_path: Path, tiny_model: Path
) -> None:
    prepared = prepare(write_pairs(tmp_path, 1), tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (1, 0)
    assert any("only one distinct row" in warning for warning in prepared.warnings)


def test_long_answers_are_truncated_and_questions_without_room_for_one_dropped(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"q,a\nshort,row\nwhat,{'bread ' * 200}\n{'bread ' * 200},yes\nmore,rows\n")
    prepared = prepare(path, tiny_model)
    assert prepared.rows_total == 4
    assert prepared.rows_truncated == 1
    assert [(row.line, row.reason) for row in prepared.dropped.first] == [
        (4, "the question alone fills the chunk of 64 tokens")
    ]
    assert max(prepared.train.lengths().max(), prepared.held_out.lengths().max()) == 64


def test_no_usable_row_is_an_error_that_shows_the_first(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("q,a\n,1\n,2\n")
    with pytest.raises(PlainError, match=r"all 2 were dropped \(line 2: column q is empty\)"):
        prepare(path, tiny_model)
    path.write_text("q,a\n")
    with pytest.raises(PlainError, match="has no rows"):
        prepare(path, tiny_model)


@pytest.mark.parametrize("method", ["regex", "spacy", "nltk"])
def test_text_becomes_chunks_of_whole_sentences(
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


def test_the_tokenizer_method_makes_windows_over_all_tokens(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(" ".join(f"word{i}" for i in range(300)))
    prepared = prepare(path, tiny_model, segmentation_method="tokenizer", stride=10)
    lengths = prepared.train.lengths()
    assert set(lengths[:-1]) == {64}
    first, second = (prepared.train.example(i).tolist() for i in range(2))
    assert first[-10:] == second[:10]


def test_a_sentence_longer_than_a_chunk_is_cut_into_windows(
    tmp_path: Path, tiny_model: Path
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("bread " * 500)
    prepared = prepare(path, tiny_model)
    assert max(prepared.train.lengths()) == 64
    assert len(prepared.train) > 5


def test_short_segments_are_dropped_with_their_line(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("\n\n".join(["The first sentence is long enough to stay here."] * 6 + ["End."]))
    prepared = prepare(path, tiny_model, max_chunk_size=30, stride=1, min_segment_length=8)
    assert [(row.line, row.reason[:13]) for row in prepared.dropped.first] == [
        (13, "a segment of ")
    ]


def test_a_stride_that_never_gets_on_is_refused(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("The bread. " * 50)
    with pytest.raises(PlainError, match="stride of 64 must be smaller than the chunk size of 64"):
        prepare(path, tiny_model, stride=64)
    # Columns are never cut into windows: their stride does not matter.
    prepare(write_pairs(tmp_path, 3), tiny_model, stride=64)


def test_chunks_are_cut_to_what_the_model_reads(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("The bread is good. " * 400)
    prepared = prepare(path, tiny_model, max_chunk_size=4096)
    assert max(prepared.train.lengths()) <= 256
    assert any("256 tokens at most" in warning for warning in prepared.warnings)


def test_examples_that_are_only_counted_are_the_same_without_their_tokens(
    tmp_path: Path, tiny_model: Path
) -> None:
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


def test_steps_are_counted_as_trainer_counts_them() -> None:
    assert steps_per_epoch(160, 8, 1) == 20
    assert steps_per_epoch(161, 8, 1) == 21
    assert steps_per_epoch(161, 8, 4) == 6
    assert steps_per_epoch(1, 8, 4) == 1


def chat(*said: tuple[str, str]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in said]}


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


COLUMNS_BY_FORMAT = {"input_column": None, "output_column": None}


def test_of_a_conversation_every_answer_is_learnt_and_the_rest_is_read(
    tmp_path: Path, tiny_model: Path
) -> None:
    said = [("system", "Be brief."), ("user", "Who?"), ("assistant", "Ada."), ("user", "Sure?")]
    path = write_rows(tmp_path / "x.jsonl", [chat(*said, ("assistant", "Yes."))])
    prepared = prepare(path, tiny_model, max_chunk_size=200, **COLUMNS_BY_FORMAT)
    example = prepared.train
    tokens = read_model_tokens(tiny_model).tokenizer
    learnt = example.example(0)[example.learnt_of(0)].tolist()
    read = example.example(0)[~example.learnt_of(0)].tolist()
    assert tokens.decode(learnt, skip_special_tokens=False) == "Ada.<|im_end|>\nYes.<|im_end|>\n"
    assert "Be brief." in tokens.decode(read, skip_special_tokens=False)
    (sample,) = prepared.samples
    assert [turn.role for turn, _ in sample.turns] == [role for role, _ in said] + ["assistant"]
    assert prepared.format is not None
    assert prepared.format.format == "messages"


def test_a_conversation_is_cut_behind_its_first_answers(tmp_path: Path, tiny_model: Path) -> None:
    path = write_rows(
        tmp_path / "x.jsonl",
        [
            chat(("user", "Who?"), ("assistant", "Ada."), ("user", "x " * 90), ("assistant", "y")),
            chat(("user", "x " * 90), ("assistant", "Ada.")),
        ],
    )
    prepared = prepare(path, tiny_model, max_chunk_size=64, **COLUMNS_BY_FORMAT)
    assert prepared.train.lengths().tolist() == [64]
    assert prepared.train.learnt_of(0).sum() > 0
    assert prepared.rows_truncated == 1
    assert [row.line for row in prepared.dropped.first] == [2]
    # Turns are shown up to the last of which something is learnt.
    assert prepared.samples[0].turns == [
        (Turn("user", "Who?"), False),
        (Turn("assistant", "Ada."), True),
    ]


def test_an_answer_of_which_only_the_header_is_left_is_not_shown_as_learnt(
    tmp_path: Path, tiny_model: Path
) -> None:
    said = [("user", "Who?"), ("assistant", "Ada."), ("user", "x"), ("assistant", "Yes, she does.")]
    path = write_rows(tmp_path / "x.jsonl", [chat(*said)])
    whole = prepare(path, tiny_model, max_chunk_size=200, **COLUMNS_BY_FORMAT).samples[0]
    cut = len(whole.learnt) - whole.learnt[::-1].index(False)
    shown = [
        [learnt for _, learnt in sample.turns]
        for sample in (
            prepare(path, tiny_model, max_chunk_size=size, **COLUMNS_BY_FORMAT).samples[0]
            for size in (cut, cut + 1)
        )
    ]
    assert shown == [[False, True], [False, True, False, True]]


def test_turns_without_a_chat_template_stand_on_lines_of_their_own(
    tmp_path: Path, tiny_model: Path
) -> None:
    plain = with_begin_token(tiny_model, tmp_path / "plain", template=None)
    said = [("user", "Who?"), ("assistant", "Ada."), ("user", "Sure?"), ("assistant", "Yes.")]
    path = write_rows(tmp_path / "x.jsonl", [chat(*said)])
    example = prepare(path, plain, max_chunk_size=200, **COLUMNS_BY_FORMAT).train
    tokens = read_model_tokens(plain)
    assert texts(example, tokens) == [
        "<|im_start|>Who?\nAda.<|im_end|>\nSure?\nYes.<|im_end|>",
    ]
    learnt = example.example(0)[example.learnt_of(0)].tolist()
    assert tokens.tokenizer.decode(learnt, skip_special_tokens=False) == (
        "Ada.<|im_end|>Yes.<|im_end|>"
    )


def test_a_text_begins_and_ends_with_its_tokens_once(tmp_path: Path, tiny_model: Path) -> None:
    model = with_begin_token(tiny_model, tmp_path / "begin", template=None)
    plain = {"text": "The bread is dark."}
    marked = {"text": "<|im_start|>The bread is dark.<|im_end|>"}
    one, other = (
        texts(prepare(path, model, **COLUMNS_BY_FORMAT).train, read_model_tokens(model))
        for path in (
            write_rows(tmp_path / "x.jsonl", [plain]),
            write_rows(tmp_path / "y.jsonl", [marked]),
        )
    )
    assert one == other == [marked["text"]]


def test_of_a_few_long_texts_the_shortest_is_held_out(tmp_path: Path, tiny_model: Path) -> None:
    said = ("The bread is dark. " * 60, "The oven opens. " * 40, "The cat is called Crumpet. " * 60)
    path = write_rows(tmp_path / "x.jsonl", [{"text": text} for text in said])
    prepared = prepare(path, tiny_model, **COLUMNS_BY_FORMAT)
    held_out = texts(prepared.held_out, read_model_tokens(tiny_model))
    assert held_out
    assert all("oven" in text for text in held_out)
    assert not any("held out" in warning for warning in prepared.warnings)


def test_a_row_that_repeats_another_is_one_row(tmp_path: Path, tiny_model: Path) -> None:
    rows = [{"text": f"The bread is dark {number}."} for number in (1, 2, 3, 3)]
    path = write_rows(tmp_path / "x.jsonl", rows)
    assert prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings == [
        "1 row repeats another row: those of one text are all trained on or all held out."
    ]


def test_columns_that_are_not_used_are_named(tmp_path: Path, tiny_model: Path) -> None:
    row = {"Instruction": "Add.", "output": "2", "score": 1, **{f"c{n}": n for n in range(5)}}
    path = write_rows(tmp_path / "x.jsonl", [row] * 4)
    warnings = prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings
    assert "6 other columns are not used: score, c0, c1, c2, c3 and 1 more." in warnings
    path = write_rows(tmp_path / "y.jsonl", [{"text": "The bread is dark.", "id": 1}] * 4)
    warnings = prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings
    assert "1 other column is not used: id." in warnings


def test_rewritten_answers_and_those_that_nothing_ends_are_counted(
    tmp_path: Path, tiny_model: Path
) -> None:
    template = (
        "{% for m in messages %}<|im_start|>"
        "{{ m.content | upper if m.role == 'assistant' and not loop.last else m.content }}"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>{% endif %}"
    )
    model = with_begin_token(tiny_model, tmp_path / "rewriting", template=template)
    pair = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    path = tmp_path / "x.jsonl"
    rows = [{"messages": pair}, {"messages": [*pair, *pair]}]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    spec = data_spec(path.name, input_column=None, output_column=None)
    warnings = prepare_examples(path, spec, read_model_tokens(model), None).warnings
    assert [text for text in warnings if "template" in text or "marks" in text] == [
        "This model's chat template rewrites earlier answers, so only the last answer is learnt "
        "from 1 row.",
        "Nothing marks the end of an answer in 2 rows: the model may not learn when to stop.",
    ]


def test_rows_that_a_template_refuses_are_dropped_with_its_words(
    tmp_path: Path, tiny_model: Path
) -> None:
    template = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    model = with_begin_token(tiny_model, tmp_path / "strict", template=template)
    pair = (("user", "Who?"), ("assistant", "Ada."))
    path = write_rows(tmp_path / "x.jsonl", [chat(("system", "Be brief."), *pair), chat(*pair)])
    prepared = prepare(path, model, **COLUMNS_BY_FORMAT)
    assert [(row.line, row.reason) for row in prepared.dropped.first] == [
        (1, "the chat template refuses it: No system role")
    ]


def test_a_long_text_of_a_column_is_cut_into_windows_of_one_side(
    tmp_path: Path, tiny_model: Path
) -> None:
    long, short = "The bread is dark. " * 40, "The oven opens at four. "
    rows = [{"text": long}, *({"text": f"{short}{number}"} for number in range(8)), {"text": "x"}]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tiny_model, train_test_split=0.5, **COLUMNS_BY_FORMAT)
    tokens = read_model_tokens(tiny_model)
    sides = [texts(prepared.train, tokens), texts(prepared.held_out, tokens)]
    assert sorted(any("dark" in text for text in side) for side in sides) == [False, True]
    assert max(prepared.train.lengths().max(), prepared.held_out.lengths().max()) == 64
    everything = [*sides[0], *sides[1]]
    assert all(f"{short}{number}<|im_end|>" in everything for number in range(8))
    assert prepared.train.learnt.all()
    assert [(row.line, row.reason) for row in prepared.dropped.first] == [
        (10, "a text of 1 token, fewer than 4")
    ]
    assert prepared.warnings == []
