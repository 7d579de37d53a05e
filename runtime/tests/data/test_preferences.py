"""Tests preference pairs: examples that stay together, double counts, and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.validation_file import ValidationFileError, prepare_files
from bakehouse_runtime.errors import PlainError
from preferences import preference_rows, write_rows
from prepared import texts, write_pairs
from train_spec import data_spec
from validate_spec import report_of, spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.data.prepared import Prepared

_UNNAMED: dict[str, Any] = {"input_column": None, "output_column": None}
_COLUMNS: dict[str, Any] = {"input_column": "q", "output_column": "a"}
_ASKED = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


def prepare(path: Path, model: Path, *, held: Path | None = None, **changes: Any) -> Prepared:
    data = data_spec(path.name, **(_UNNAMED | {"validation_path": held and held.name} | changes))
    return prepare_files(path, held, data, read_model_tokens(model), 256, objective="dpo")


def row(at: int, better: str = "Yes.", worse: str = "No.") -> dict[str, str]:
    return {"prompt": f"Which is number {at}?", "chosen": better, "rejected": worse}


def test_pairs_both_answers_with_the_same_question(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", [row(1), row(2, "Yes, it is 2.", "So what?")])
    prepared = prepare(path, tied_model, train_test_split=0.5)
    tokens = read_model_tokens(tied_model)
    for part in (prepared.train, prepared.held_out):
        assert part.rejected is not None
        (better,), (worse,) = texts(part, tokens), texts(part.rejected, tokens)
        number = 1 if "number 1" in better else 2
        asked = _ASKED.format(f"Which is number {number}?")
        answers = {1: ("Yes.", "No."), 2: ("Yes, it is 2.", "So what?")}[number]
        assert [better, worse] == [f"{asked}{answer}<|im_end|>\n" for answer in answers]
        for side, answer in ((part, answers[0]), (part.rejected, answers[1])):
            learnt = side.example(0)[side.learnt_of(0)].tolist()
            assert tokens.tokenizer.decode(learnt, skip_special_tokens=False) == (
                f"{answer}<|im_end|>\n"
            )


def test_keeps_rows_of_one_question_together(tmp_path: Path, tied_model: Path) -> None:
    rows = [row(at // 4, f"Yes, {at}.", f"No, {at}.") for at in range(40)]
    prepared = prepare(write_rows(tmp_path / "x.jsonl", rows), tied_model)
    tokens = read_model_tokens(tied_model)
    sides = [
        {text.split("<|im_end|>")[0] for text in texts(part, tokens)}
        for part in (prepared.train, prepared.held_out)
    ]
    assert not sides[0] & sides[1]
    assert (len(prepared.train), len(prepared.held_out)) == (32, 8)


def test_drops_a_pair_if_one_answer_does_not_fit(tmp_path: Path, tied_model: Path) -> None:
    long = "bread " * 20
    rows = [
        row(1, long, "No."),
        row(2, f"{long} Yes.", f"{long} No."),
        {"prompt": 2 * long, "chosen": "Yes.", "rejected": "No."},
        row(3),
    ]
    prepared = prepare(write_rows(tmp_path / "x.jsonl", rows), tied_model, max_chunk_size=40)
    assert [(dropped.line, dropped.reason) for dropped in prepared.dropped.by_line()] == [
        (2, "both answers are the same in the 40 tokens of the chunk"),
        (3, "the question takes up all 40 tokens of the chunk"),
    ]
    assert prepared.rows_truncated == 1
    assert prepared.longest == 40


def test_report_counts_and_shows_both_answers(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(
        tmp_path / "x.jsonl", [row(at, "Yes, gladly." if at % 2 else "Yes.") for at in range(20)]
    )
    fields = spec(tied_model, path)
    fields["data"] = data_spec(path.name, **_UNNAMED).model_dump()
    fields["parameters"] |= {"objective": "dpo", "batch_size": 1, "eval_batch_size": 1}
    report = report_of(fields)
    assert report.target_errors == []
    assert report.format is not None
    assert (report.format.format, report.format.rejected_column) == ("preference", "rejected")
    prepared = prepare(path, tied_model)
    lengths = [
        [len(part.example(at)), len(part.rejected.example(at))]
        for part in (prepared.train, prepared.held_out)
        if part.rejected is not None
        for at in range(len(part))
    ]
    assert report.train_tokens + report.eval_tokens == sum(map(sum, lengths))
    padded = report.train_padded_tokens + report.eval_padded_tokens
    assert padded == sum(2 * max(pair) for pair in lengths) > report.train_tokens
    assert sum(bin_.count for bin_ in report.token_histogram) == 40
    assert (report.train_examples, report.eval_examples) == (16, 4)
    sample = report.samples[0]
    assert sample.rejected is not None
    assert [turn.content for turn in sample.turns] == ["Which is number 0?", "Yes."]
    assert [turn.content for turn in sample.rejected.turns] == ["Which is number 0?", "No."]
    assert [part.learnt for part in sample.rejected.parts] == [False, True]
    assert sample.rejected.parts[1].text == "No.<|im_end|>\n"


def test_sft_trains_on_better_answers_and_warns(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", preference_rows())
    tokens = read_model_tokens(tied_model)
    prepared = prepare_examples(path, data_spec(path.name, **_UNNAMED), tokens, 256)
    assert prepared.train.rejected is None
    assert all("with pleasure" in text for text in texts(prepared.train, tokens))
    assert [said for said in prepared.warnings if "SFT learns only from the better answers" in said]


def test_dpo_explains_the_required_format(tmp_path: Path, tied_model: Path) -> None:
    sentence = "is not read so: choose the format Preferences, or the objective SFT"
    with pytest.raises(PlainError, match=sentence):
        prepare(write_pairs(tmp_path, 5), tied_model, format="prompt_completion", **_COLUMNS)
    (tmp_path / "x.txt").write_text("Once upon a time. " * 20)
    with pytest.raises(PlainError, match=sentence):
        prepare(tmp_path / "x.txt", tied_model)
    # Without a named format, the file must have pairs.
    with pytest.raises(PlainError, match="contain the question, the better and the worse answer"):
        prepare(write_pairs(tmp_path, 5), tied_model)
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    beside = {"messages": messages, **row(1)}
    path = write_rows(tmp_path / "x.jsonl", [beside, beside | row(2)])
    found = prepare(path, tied_model).format
    assert found is not None
    assert (found.format, found.input_column) == ("preference", "prompt")


def test_reads_the_named_columns(tmp_path: Path, tied_model: Path) -> None:
    rows = [{"a": f"Number {at}?", "b": "Yes.", "c": "No.", "prompt": "x"} for at in range(4)]
    path = write_rows(tmp_path / "x.jsonl", rows)
    named: dict[str, Any] = {"input_column": "a", "output_column": "b", "rejected_column": "c"}
    prepared = prepare(path, tied_model, format="preference", **named)
    (first, *_) = prepared.samples
    assert first.rejected is not None
    assert [one.turn.content for one in first.rejected.turns] == ["Number 0?", "No."]
    named["rejected_column"] = "d"
    with pytest.raises(PlainError, match="has no column d"):
        prepare(path, tied_model, format="preference", **named)


def test_accepts_single_turns_as_answers_and_requires_a_question(
    tmp_path: Path, tied_model: Path
) -> None:
    """As in LLaMA-Factory, next to the conversation."""
    asked = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    rows = [
        {
            "conversations": [*asked, {"from": "human", "value": "Who?"}],
            "chosen": {"from": "gpt", "value": "Ada"},
            "rejected": {"from": "gpt", "value": "Bob"},
        },
        {"conversations": [], "system": "You are brief.", "chosen": "Yes.", "rejected": "No."},
        {"conversations": {"q": "Hi"}, "chosen": "Yes.", "rejected": "No."},
    ]
    prepared = prepare(write_rows(tmp_path / "x.jsonl", rows), tied_model)
    (sample,) = prepared.samples
    assert sample.rejected is not None
    said = [(one.turn.content, one.learnt) for one in sample.rejected.turns]
    assert said == [("Hi", False), ("Hello", False), ("Who?", False), ("Bob", True)]
    reasons = [dropped.reason for dropped in prepared.dropped.by_line()]
    assert reasons == [
        "column conversations holds a list, not text",
        "column conversations holds an object, not text",
    ]


def test_reads_the_pairs_of_a_validation_file(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", preference_rows())
    held = write_rows(tmp_path / "held.jsonl", [row(1), row(2)])
    prepared = prepare(path, tied_model, held=held)
    assert (len(prepared.train), len(prepared.held_out)) == (40, 2)
    assert prepared.held_out.rejected is not None
    assert len(prepared.held_out.rejected) == 2
    with pytest.raises(ValidationFileError, match="has no column rejected"):
        alone = [{"prompt": "Hi", "chosen": "Yes."}]
        prepare(path, tied_model, held=write_rows(tmp_path / "alone.jsonl", alone))


def test_refuses_an_adapter_on_lm_head(tmp_path: Path, tiny_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", preference_rows())
    fields = spec(tiny_model, path)
    fields["data"] = data_spec(path.name, **_UNNAMED).model_dump()
    fields["parameters"]["objective"] = "dpo"
    report = report_of(fields)
    assert report.target_errors == [
        "DPO cannot train an adapter on lm_head: leave it out of the target modules, or choose "
        "the objective SFT."
    ]
    assert report.rows_kept == 40
