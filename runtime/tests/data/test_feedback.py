"""Tests rated answers: examples with ratings, counts, and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.rows import read_rows
from bakehouse_runtime.data.table import Dropped
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.validation_file import ValidationFileError, prepare_files
from bakehouse_runtime.errors import PlainError
from preferences import feedback_rows, write_rows
from prepared import texts, write_pairs
from train_spec import data_spec
from validate_spec import report_of, spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.data.prepared import Prepared
    from bakehouse_runtime.protocol import Objective

_UNNAMED: dict[str, Any] = {"input_column": None, "output_column": None}


def prepare(
    path: Path,
    model: Path,
    *,
    held: Path | None = None,
    objective: Objective = "kto",
    **changes: Any,
) -> Prepared:
    data = data_spec(path.name, **(_UNNAMED | {"validation_path": held and held.name} | changes))
    return prepare_files(path, held, data, read_model_tokens(model), 256, objective=objective)


def row(at: int, answer: str = "Yes.", *, label: Any = True) -> dict[str, Any]:
    return {"prompt": f"Which is number {at}?", "completion": answer, "label": label}


def test_keeps_the_rating_of_each_answer(tmp_path: Path, tied_model: Path) -> None:
    prepared = prepare(write_rows(tmp_path / "x.jsonl", feedback_rows()), tied_model)
    tokens = read_model_tokens(tied_model)
    for part in (prepared.train, prepared.held_out):
        assert part.good is not None
        assert part.rejected is None
        kind = ["with pleasure" in text for text in texts(part, tokens)]
        assert kind == part.good.tolist()
    assert (len(prepared.train), len(prepared.held_out)) == (64, 16)
    questions = [
        {text.split("<|im_end|>")[0] for text in texts(part, tokens)}
        for part in (prepared.train, prepared.held_out)
    ]
    assert not questions[0] & questions[1]
    assert [sample.label for sample in prepared.samples] == [True, False, True, False, True]
    # Bad answers must not be shown as expected answers.
    asked = [prepared.held_out.good[question.example] for question in prepared.questions]  # pyright: ignore[reportOptionalSubscript]
    assert len(asked) == 5
    assert all(asked)


def test_rates_only_the_last_answer_of_a_conversation(tmp_path: Path, tied_model: Path) -> None:
    turns = [("user", "Hi"), ("assistant", "Hello"), ("user", "Who?"), ("assistant", "Ada")]
    messages = [{"role": role, "content": content} for role, content in turns]
    rows = [
        {"messages": [*messages, {"role": "user", "content": "Bye"}], "label": True},
        {"messages": messages[:2], "label": False},
        {"messages": [{"role": "user", "content": "Bye"}, messages[1]], "label": False},
        {"messages": [{"role": "system", "content": "Go."}, messages[1]], "label": False},
    ]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tied_model, train_test_split=0.95)
    first = prepared.samples[0]
    said = [(one.turn.content, one.learnt) for one in first.turns]
    assert said == [("Hi", False), ("Hello", False), ("Who?", False), ("Ada", True)]
    reasons = [dropped.reason for dropped in prepared.dropped.by_line()]
    assert reasons == ["no question stands before the answer"]


def test_drops_a_row_without_a_rating_and_lists_valid_ones(
    tmp_path: Path, tied_model: Path
) -> None:
    rows = [row(1), row(2, label=False), row(3, label=None), row(4, label="  "), row(5, label=3)]
    rows += [row(6, label=[True]), {"prompt": "Which?", "completion": "This."}]
    path = write_rows(tmp_path / "x.jsonl", rows)
    columns: dict[str, Any] = {
        **{"input_column": "prompt", "output_column": "completion", "label_column": "label"},
    }
    data = data_spec(path.name, format="feedback", **columns)
    reasons = [one.reason for one in read_rows(path, data).rows if isinstance(one, Dropped)]
    empty = (
        "column label is empty: write true, 1 or up where the answer is good, and false, 0 or down "
        "where it is bad"
    )
    neither = "column label is {}, neither good (true, 1, up) nor bad (false, 0, down)"
    assert reasons == [empty, empty, neither.format("3"), neither.format("[True]"), empty]
    with pytest.raises(PlainError, match="has no column thumbs"):
        thumbs: dict[str, Any] = columns | {"label_column": "thumbs"}
        prepare(path, tied_model, format="feedback", **thumbs)


def test_rejects_answers_that_are_all_good_or_all_bad(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", [row(at) for at in range(10)])
    refused = "but all answers of x.jsonl are good: add bad ones, or choose the objective SFT."
    with pytest.raises(PlainError, match=refused):
        prepare(path, tied_model, format="feedback")
    bad = write_rows(tmp_path / "y.jsonl", [row(at, label=False) for at in range(10)])
    with pytest.raises(PlainError, match=r"but all answers of y.jsonl are bad: add good ones\.$"):
        prepare(bad, tied_model, format="feedback")
    # The only bad answer is held out, so there is nothing to learn from.
    for seed in range(20):
        rows = [row(at, label=at > 0) for at in range(10)]
        one = write_rows(tmp_path / "z.jsonl", rows)
        try:
            prepared = prepare(one, tied_model, seed=seed)
        except PlainError as error:
            assert "The only bad answer is held out, so only good ones remain" in str(error)
            break
        said = "The held-out answers are all good, so the run cannot measure whether it prefers"
        assert any(warning.startswith(said) for warning in prepared.warnings)
    else:
        pytest.fail("it was never held out")


def test_report_counts_and_shows_ratings(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", feedback_rows()[:-1])
    fields = spec(tied_model, path)
    fields["data"] = data_spec(path.name, **_UNNAMED).model_dump()
    fields["parameters"]["objective"] = "kto"
    report = report_of(fields)
    assert report.target_errors == []
    assert report.format is not None
    assert (report.format.format, report.format.label_column) == ("feedback", "label")
    prepared = prepare(path, tied_model)
    assert report.ratings is not None
    assert report.ratings.good + report.ratings.bad == report.train_examples
    good = prepared.train.good
    assert good is not None
    assert report.ratings.good == good.sum()
    assert [sample.label for sample in report.samples] == [True, False, True, False, True]
    lengths = [part.lengths().sum() for part in (prepared.train, prepared.held_out)]
    assert [report.train_tokens, report.eval_tokens] == lengths
    fields["parameters"]["objective"] = "sft"
    assert report_of(fields).ratings is None


def test_sft_trains_on_good_answers_and_warns(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", feedback_rows())
    tokens = read_model_tokens(tied_model)
    prepared = prepare_examples(path, data_spec(path.name, **_UNNAMED), tokens, 256)
    assert prepared.train.good is None
    assert all("with pleasure" in text for text in texts(prepared.train, tokens))
    assert prepared.dropped.count == 40
    assert prepared.dropped.by_line()[0].reason == (
        "the answer is bad, and SFT learns the good ones alone"
    )
    assert [said for said in prepared.warnings if "SFT learns only from the good answers" in said]


def test_kto_explains_the_required_format(tmp_path: Path, tied_model: Path) -> None:
    sentence = "is not read so: choose the format Feedback, or the objective SFT"
    pairs: dict[str, Any] = {
        "format": "prompt_completion",
        "input_column": "q",
        "output_column": "a",
    }
    with pytest.raises(PlainError, match=sentence):
        prepare(write_pairs(tmp_path, 5), tied_model, **pairs)
    (tmp_path / "x.txt").write_text("Once upon a time. " * 20)
    with pytest.raises(PlainError, match=sentence):
        prepare(tmp_path / "x.txt", tied_model)
    # Without a named format, the file must have ratings.
    with pytest.raises(PlainError, match="the question, the answer, and whether it is good or bad"):
        prepare(write_pairs(tmp_path, 5), tied_model)
    rated = write_rows(tmp_path / "x.jsonl", feedback_rows())
    with pytest.raises(PlainError, match="DPO learns from a better and a worse answer"):
        prepare(rated, tied_model, objective="dpo", format="feedback")


def test_reads_the_ratings_of_a_validation_file(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", feedback_rows())
    held = write_rows(tmp_path / "held.jsonl", [row(1), row(2, "No.")])
    prepared = prepare(path, tied_model, held=held)
    assert (len(prepared.train), len(prepared.held_out)) == (80, 2)
    assert prepared.held_out.good is not None
    assert prepared.held_out.good.tolist() == [True, True]
    assert [said for said in prepared.warnings if said.startswith("The held-out answers are all")]
    with pytest.raises(ValidationFileError, match="has no column label"):
        alone = [{"prompt": "Hi", "completion": "Yes."}]
        prepare(path, tied_model, held=write_rows(tmp_path / "alone.jsonl", alone))


def test_refuses_an_adapter_on_lm_head(tmp_path: Path, tiny_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", feedback_rows())
    fields = spec(tiny_model, path)
    fields["data"] = data_spec(path.name, **_UNNAMED).model_dump()
    fields["parameters"]["objective"] = "kto"
    (error,) = report_of(fields).target_errors
    assert error.startswith("KTO cannot train an adapter on lm_head: leave it out")
