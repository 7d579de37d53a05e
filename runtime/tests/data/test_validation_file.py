from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakehouse_runtime.data.prepared import Prepared, Progress
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.validation_file import ValidationFileError, prepare_files
from bakehouse_runtime.protocol import ValidateSpec
from bakehouse_runtime.validate import read_as_training_would
from prepared import prepare, texts, write_pairs
from train_spec import LINEAR, data_spec

if TYPE_CHECKING:
    from pathlib import Path


def write_rows(folder: Path, rows: list[dict[str, str]], name: str = "held.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def prepare_two(path: Path, held_out: Path, model: Path, **changes: Any) -> Prepared:
    data = data_spec(path.name, validation_path=held_out.name, **changes)
    return prepare_files(path, held_out, data, read_model_tokens(model), 256)


def test_trains_on_the_training_file_and_holds_out_the_validation_file(
    tmp_path: Path, tiny_model: Path
) -> None:
    pairs = write_pairs(tmp_path, 20)
    held = write_rows(tmp_path, [{"q": f"Is {i} new?", "a": "Yes."} for i in range(3)])
    prepared = prepare_two(pairs, held, tiny_model)
    assert (len(prepared.train), len(prepared.held_out)) == (20, 3)
    tokens = read_model_tokens(tiny_model)
    assert all("Which is number" in text for text in texts(prepared.train, tokens))
    assert all("new?" in text for text in texts(prepared.held_out, tokens))
    assert [question.text for question in prepared.questions] == [f"Is {i} new?" for i in range(3)]
    assert prepared.rows_total == 20
    assert prepared.warnings == []
    # Without a validation file, some of these rows are held out.
    assert len(prepare(pairs, tiny_model).train) == 16


def test_holds_out_a_whole_text(tmp_path: Path, tiny_model: Path) -> None:
    book, held = tmp_path / "book.txt", tmp_path / "held.txt"
    book.write_text("Ada bakes bread. " * 60)
    held.write_text("Rye is sour. " * 60)
    for method in ("regex", "tokenizer"):
        prepared = prepare_two(book, held, tiny_model, segmentation_method=method)
        tokens = read_model_tokens(tiny_model)
        assert "Rye" not in "".join(texts(prepared.train, tokens))
        assert "Ada" not in "".join(texts(prepared.held_out, tokens))
        covered = [text.count("sour") for text in texts(prepared.held_out, tokens)]
        assert sum(covered) >= 60
        assert len(prepared.questions) == min(5, len(prepared.held_out))


def test_reads_the_validation_file_in_the_format_of_the_training_file(
    tmp_path: Path, tiny_model: Path
) -> None:
    rows = write_rows(tmp_path, [{"prompt": "Who bakes?", "completion": "Ada."}], "rows.jsonl")
    held = write_rows(
        tmp_path, [{"prompt": "And who eats?", "completion": "Bo.", "text": "Neither of them."}]
    )
    prepared = prepare_two(rows, held, tiny_model, input_column=None, output_column=None)
    (text,) = texts(prepared.held_out, read_model_tokens(tiny_model))
    assert "And who eats?" in text
    assert "Neither" not in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("held.jsonl", '{"question": "a", "answer": "b"}', "held.jsonl has no column"),
        ("held.jsonl", "", "held.jsonl is empty"),
        ("held.txt", "A text.", "held.txt must have rows, as pairs.jsonl does"),
    ],
)
def test_attributes_faults_to_the_validation_file(
    tmp_path: Path, tiny_model: Path, name: str, content: str, message: str
) -> None:
    pairs = write_pairs(tmp_path, 4)
    held = tmp_path / name
    held.write_text(content)
    with pytest.raises(ValidationFileError, match=message):
        prepare_two(pairs, held, tiny_model)
    report = read_as_training_would(validate_spec(pairs, held, tiny_model))
    assert report.critical_errors == []
    assert message in report.validation_errors[0]


def test_report_counts_both_files(tmp_path: Path, tiny_model: Path) -> None:
    pairs = write_pairs(tmp_path, 20)
    held = write_rows(tmp_path, [{"q": "Is it new?", "a": "Yes."}, {"q": "And this?", "a": ""}])
    report = read_as_training_would(validate_spec(pairs, held, tiny_model))
    assert (report.train_examples, report.eval_examples, report.rows_total) == (20, 1, 20)
    assert (report.critical_errors, report.validation_errors) == ([], [])
    assert any("1 of 2 rows cannot be used (line 2:" in warning for warning in report.warnings)


def test_warns_about_rows_that_are_also_trained_on(tmp_path: Path, tiny_model: Path) -> None:
    pairs = write_pairs(tmp_path, 20)
    rows = [{"q": "Which is number 3?", "a": "Four."}, {"q": "Is it new?", "a": "Yes."}]
    warnings = prepare_two(pairs, write_rows(tmp_path, rows), tiny_model).warnings
    assert warnings == [
        "Validation file: 1 of 2 examples ask what the training file teaches, so its loss is lower "
        "than on new questions."
    ]


def test_estimate_counts_the_validation_file_once(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("bakehouse_runtime.validate._SAMPLE_ROWS", 1000)
    pairs = write_pairs(tmp_path, 3000)
    held = write_rows(tmp_path, [{"q": f"Is {i} new?", "a": "Yes."} for i in range(7)])
    whole = read_as_training_would(validate_spec(pairs, held, tiny_model))
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (sample,) = [line["sample"] for line in printed if line["sample"]]
    assert (sample["eval_examples"], sample["eval_tokens"]) == (7, whole.eval_tokens)
    assert np.isclose(sample["train_examples"], 3000, rtol=0.1)


def test_reports_progress_for_a_long_validation_file(tmp_path: Path, tiny_model: Path) -> None:
    pairs = write_pairs(tmp_path, 1000)
    held = write_rows(tmp_path, [{"q": f"Is {i} new?", "a": "Yes."} for i in range(2500)])
    told: list[Progress] = []
    data = data_spec(pairs.name, validation_path=held.name)
    tokens = read_model_tokens(tiny_model)
    prepare_files(pairs, held, data, tokens, 256, on_progress=told.append)
    assert [(one.rows, one.part, one.so_far is None) for one in told[:3]] == [
        (1000, 0.0, True),
        (2000, 0.0, True),
        (2500, 0.0, True),
    ]
    so_far = told[-1].so_far
    assert so_far is not None
    assert len(so_far().held_out) == 2500


def validate_spec(path: Path, held_out: Path, model: Path) -> ValidateSpec:
    return ValidateSpec.model_validate(
        {
            "base_model_dir": str(model),
            "data_file": str(path),
            "validation_file": str(held_out),
            "data": data_spec(path.name, validation_path=held_out.name),
            "parameters": {
                "epochs": 1,
                "learning_rate": 0.01,
                "batch_size": 4,
                "eval_batch_size": 8,
                "gradient_accumulation_steps": 1,
                "lora": {"r": 8, "alpha": 16.0, "dropout": 0.0, "target_modules": LINEAR},
            },
        }
    )
