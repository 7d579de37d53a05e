"""Tests which parts of conversations and texts count in the loss."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.turns import Turn
from prepared import prepare, texts, with_begin_token
from train_spec import data_spec

if TYPE_CHECKING:
    from pathlib import Path


def chat(*turns: tuple[str, str]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


COLUMNS_BY_FORMAT = {"input_column": None, "output_column": None}


def test_trains_on_every_answer_of_a_conversation_only(tmp_path: Path, tiny_model: Path) -> None:
    turns = [("system", "Be brief."), ("user", "Who?"), ("assistant", "Ada."), ("user", "Sure?")]
    path = write_rows(tmp_path / "x.jsonl", [chat(*turns, ("assistant", "Yes."))])
    prepared = prepare(path, tiny_model, max_chunk_size=200, **COLUMNS_BY_FORMAT)
    example = prepared.train
    tokens = read_model_tokens(tiny_model).tokenizer
    learnt = example.example(0)[example.learnt_of(0)].tolist()
    read = example.example(0)[~example.learnt_of(0)].tolist()
    assert tokens.decode(learnt, skip_special_tokens=False) == "Ada.<|im_end|>\nYes.<|im_end|>\n"
    assert "Be brief." in tokens.decode(read, skip_special_tokens=False)
    (sample,) = prepared.samples
    assert [turn.role for turn, _ in sample.turns] == [role for role, _ in turns] + ["assistant"]
    assert prepared.format is not None
    assert prepared.format.format == "messages"


def test_cuts_a_conversation_after_its_first_answers(tmp_path: Path, tiny_model: Path) -> None:
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
    # Samples end with the last turn that counts in the loss.
    assert prepared.samples[0].turns == [
        (Turn("user", "Who?"), False),
        (Turn("assistant", "Ada."), True),
    ]


def test_does_not_mark_an_answer_cut_down_to_its_header_as_trained(
    tmp_path: Path, tiny_model: Path
) -> None:
    turns = [
        ("user", "Who?"),
        ("assistant", "Ada."),
        ("user", "x"),
        ("assistant", "Yes, she does."),
    ]
    path = write_rows(tmp_path / "x.jsonl", [chat(*turns)])
    whole = prepare(path, tiny_model, max_chunk_size=200, **COLUMNS_BY_FORMAT).samples[0]
    cut = len(whole.learnt) - whole.learnt[::-1].index(False)
    learnt = [
        [learnt for _, learnt in sample.turns]
        for sample in (
            prepare(path, tiny_model, max_chunk_size=size, **COLUMNS_BY_FORMAT).samples[0]
            for size in (cut, cut + 1)
        )
    ]
    assert learnt == [[False, True], [False, True, False, True]]


def test_writes_one_turn_per_line_without_a_chat_template(tmp_path: Path, tiny_model: Path) -> None:
    plain = with_begin_token(tiny_model, tmp_path / "plain", template=None)
    turns = [("user", "Who?"), ("assistant", "Ada."), ("user", "Sure?"), ("assistant", "Yes.")]
    path = write_rows(tmp_path / "x.jsonl", [chat(*turns)])
    example = prepare(path, plain, max_chunk_size=200, **COLUMNS_BY_FORMAT).train
    tokens = read_model_tokens(plain)
    assert texts(example, tokens) == [
        "<|im_start|>Who?\nAda.<|im_end|>\nSure?\nYes.<|im_end|>",
    ]
    learnt = example.example(0)[example.learnt_of(0)].tolist()
    assert tokens.tokenizer.decode(learnt, skip_special_tokens=False) == (
        "Ada.<|im_end|>Yes.<|im_end|>"
    )


def test_finds_special_tokens_in_all_configuration_files(tmp_path: Path, tiny_model: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(tiny_model, model)
    named = {"bos_token": {"content": "<|im_start|>"}, "eos_token": "<|im_end|>"}
    config = {"model_max_length": 1024}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    # As in GPT-2, the configuration only has the id of the end-of-text token.
    assert read_model_tokens(model).special_tokens == {"eos_token": "<|im_end|>"}
    (model / "special_tokens_map.json").write_text(json.dumps(named))
    assert read_model_tokens(model).special_tokens == {
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
    }
    (model / "tokenizer_config.json").write_text(json.dumps(config | {"eos_token": "<|x|>"}))
    assert read_model_tokens(model).special_tokens["eos_token"] == "<|x|>"


def test_adds_begin_and_end_tokens_to_a_text_once(tmp_path: Path, tiny_model: Path) -> None:
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


def test_holds_out_the_shortest_of_a_few_long_texts(tmp_path: Path, tiny_model: Path) -> None:
    turns = (
        "The bread is dark. " * 60,
        "The oven opens. " * 40,
        "The cat is called Crumpet. " * 60,
    )
    path = write_rows(tmp_path / "x.jsonl", [{"text": text} for text in turns])
    prepared = prepare(path, tiny_model, **COLUMNS_BY_FORMAT)
    held_out = texts(prepared.held_out, read_model_tokens(tiny_model))
    assert held_out
    assert all("oven" in text for text in held_out)
    assert not any("held out" in warning for warning in prepared.warnings)


def test_counts_repeated_rows_as_one_for_the_split(tmp_path: Path, tiny_model: Path) -> None:
    rows = [{"text": f"The bread is dark {number}."} for number in (1, 2, 3, 3)]
    path = write_rows(tmp_path / "x.jsonl", rows)
    assert prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings == [
        "1 row repeats another row: rows with the same text are all trained on or all held out."
    ]


def test_names_unused_columns(tmp_path: Path, tiny_model: Path) -> None:
    row = {"Instruction": "Add.", "output": "2", "score": 1, **{f"c{n}": n for n in range(5)}}
    path = write_rows(tmp_path / "x.jsonl", [row] * 4)
    warnings = prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings
    assert "6 other columns are not used: score, c0, c1, c2, c3 and 1 more." in warnings
    path = write_rows(tmp_path / "y.jsonl", [{"text": "The bread is dark.", "id": 1}] * 4)
    warnings = prepare(path, tiny_model, **COLUMNS_BY_FORMAT).warnings
    assert "1 other column is not used: id." in warnings


def test_counts_rewritten_answers_and_answers_without_an_end(
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


def test_drops_rows_that_a_template_rejects_with_its_error(
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


def test_keeps_all_windows_of_a_long_text_on_one_side_of_the_split(
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
        (10, "a text of 1 token, shorter than the minimum of 4")
    ]
    assert prepared.warnings == []
