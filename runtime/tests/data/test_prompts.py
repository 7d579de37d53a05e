"""Tests prompts without answers: examples with references, and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.rows import read_rows
from bakehouse_runtime.data.table import Dropped
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.validation_file import prepare_files
from bakehouse_runtime.errors import PlainError
from preferences import prompt_rows, write_rows
from prepared import texts
from train_spec import data_spec
from validate_spec import report_of, spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.data.prepared import Prepared
    from bakehouse_runtime.protocol import Objective, ValidateReport

_UNNAMED: dict[str, Any] = {"input_column": None, "output_column": None}


def prepare(
    path: Path,
    model: Path,
    *,
    objective: Objective = "grpo",
    max_generated_tokens: int = 8,
    **changes: Any,
) -> Prepared:
    data = data_spec(path.name, **(_UNNAMED | changes))
    tokens = read_model_tokens(model)
    return prepare_files(
        path,
        None,
        data,
        tokens,
        256,
        objective=objective,
        max_generated_tokens=max_generated_tokens,
    )


def test_prompt_ends_at_the_answer_and_keeps_its_reference(
    tmp_path: Path, tied_model: Path
) -> None:
    prepared = prepare(write_rows(tmp_path / "x.jsonl", prompt_rows()), tied_model)
    assert (len(prepared.train), len(prepared.held_out)) == (32, 8)
    by_prompt = {row["prompt"]: row["reference"] for row in prompt_rows()}
    for part in (prepared.train, prepared.held_out):
        assert not part.learnt.any()
        assert part.references is not None
        for text, reference in zip(
            texts(part, read_model_tokens(tied_model)), part.references, strict=True
        ):
            asked = text.removeprefix("<|im_start|>user\n")
            asked, end = asked.split("<|im_end|>")
            assert end == "\n<|im_start|>assistant\n"
            assert by_prompt[asked] == reference
    assert [sample.reference for sample in prepared.samples] == ["0", "1", "2", "3", "4"]
    assert [question.text for question in prepared.questions] == [
        row["prompt"] for row in prompt_rows() if row["prompt"] in _asked(prepared)
    ][:5]


def _asked(prepared: Prepared) -> set[str | None]:
    return {question.text for question in prepared.questions}


def test_accepts_a_conversation_that_ends_with_a_question(tmp_path: Path, tied_model: Path) -> None:
    hi, answer = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
    rows = [
        {"prompt": [{"role": "system", "content": "Be kind."}, hi, answer, hi]},
        {"prompt": [hi]},
        {"prompt": [hi, answer]},
        {"prompt": ""},
    ]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tied_model, max_chunk_size=128)
    assert [[turn.role for turn, _ in sample.turns] for sample in prepared.samples] == [
        ["system", "user", "assistant", "user"],
        ["user"],
    ]
    assert [(row.line, row.reason) for row in prepared.dropped.by_line()] == [
        (3, "column prompt ends with what the assistant says: end it with the question"),
        (4, "column prompt is empty"),
    ]


def test_drops_rows_without_a_question_or_reference(tmp_path: Path, tied_model: Path) -> None:
    rows = [*prompt_rows()[:3], {"prompt": "So? " * 60, "reference": "1"}, {"prompt": "What?"}]
    prepared = prepare(write_rows(tmp_path / "x.jsonl", rows), tied_model)
    long, empty = prepared.dropped.by_line()
    assert long.line == 4
    assert "the chunk of 64 leaves room for 56 next to an answer of up to 8" in long.reason
    assert (empty.line, empty.reason) == (5, "column reference is missing")
    with pytest.raises(PlainError, match="Answers of up to 64 tokens fill the chunk of 64"):
        prepare(tmp_path / "x.jsonl", tied_model, max_generated_tokens=64)


def test_reads_questions_with_answers_as_prompts_if_requested(
    tmp_path: Path, tied_model: Path
) -> None:
    rows = [{"question": f"What is {at}?", "answer": f"#### {at}"} for at in range(10)]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tied_model)
    assert prepared.format is not None
    assert prepared.format.format == "prompts"
    assert prepared.format.output_column == "answer"
    plain = read_rows(path, data_spec("x.jsonl", **_UNNAMED)).format
    assert plain.format == "prompt_completion"
    named = data_spec("x.jsonl", input_column="question", output_column=None, format="prompts")
    assert read_rows(path, named).format.output_column == ""
    assert not any(isinstance(row, Dropped) for row in read_rows(path, named).rows)


def test_sft_rejects_prompts_without_answers(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", [{"prompt": f"Number {at}?"} for at in range(10)])
    with pytest.raises(PlainError, match="without answers that SFT could learn: choose"):
        prepare(path, tied_model, objective="sft", max_generated_tokens=0)
    text = tmp_path / "x.txt"
    text.write_text("Once upon a time. " * 50)
    with pytest.raises(PlainError, match="GRPO learns from what the model itself answers"):
        prepare(text, tied_model)


def test_report_lists_each_reward_fault(tmp_path: Path, tied_model: Path) -> None:
    path = write_rows(tmp_path / "x.jsonl", [{"prompt": f"Number {at}?"} for at in range(10)])

    def report(*rewards: dict[str, Any], **changes: Any) -> ValidateReport:
        asked = spec(tied_model, path)
        asked["data"] |= _UNNAMED
        written = {"objective": "grpo", "max_new_tokens": 8, "rewards": list(rewards)}
        lora = asked["parameters"]["lora"] | {"target_modules": ["q_proj"]}
        asked["parameters"] |= written | {"lora": lora} | changes
        return report_of(asked)

    pattern = {"type": "pattern", "pattern": "a", "weight": 1.0}
    good = report(pattern)
    assert (good.critical_errors, good.reward_errors) == ([], [])
    assert good.format is not None
    assert good.format.format == "prompts"
    assert good.samples[0].reference is None
    bad = report(pattern | {"pattern": "("}, {"type": "match", "compare": "text", "weight": 1.0})
    assert bad.critical_errors == []
    assert [said[:17] for said in bad.reward_errors] == ["Reward 1 (pattern", "Reward 2 (match):"]
    # More or longer generated answers need more memory.
    assert report(pattern, generations=16).memory_bytes > good.memory_bytes
    assert report(pattern, max_new_tokens=32).memory_bytes > good.memory_bytes


def test_reads_a_reference_column_next_to_messages(tmp_path: Path, tied_model: Path) -> None:
    """Rows as in OpenAI's reinforcement fine-tuning."""
    rows = [
        {
            "messages": [
                {"role": "developer", "content": "Be short."},
                {"role": "user", "content": f"{at} + 1?"},
            ],
            "sum": at + 1,
            "answer": "elsewhere",
        }
        for at in range(20)
    ]
    path = write_rows(tmp_path / "x.jsonl", rows)
    named: dict[str, Any] = {"format": "prompts", "input_column": "messages"}
    prepared = prepare(path, tied_model, **named, output_column="sum")
    assert [sample.reference for sample in prepared.samples] == ["1", "2", "3", "4", "5"]
    first, _ = prepared.samples[0].turns
    assert (first.turn.role, first.turn.content) == ("system", "Be short.")
    alone = prepare(path, tied_model, **named)
    assert [sample.reference for sample in alone.samples] == [None] * 5
    answered = [row | {"messages": [{"role": "assistant", "content": "2"}]} for row in rows]
    with pytest.raises(PlainError, match="ends with what the assistant says"):
        prepare(write_rows(tmp_path / "y.jsonl", answered), tied_model, **named)
