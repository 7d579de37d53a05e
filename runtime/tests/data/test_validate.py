from __future__ import annotations

import json
import shutil
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bakehouse_runtime import confined
from bakehouse_runtime import validate as validate_module
from bakehouse_runtime.cli import main
from bakehouse_runtime.confined import run_confined
from bakehouse_runtime.data import documents as text_module
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.protocol import ValidateProgress, ValidateReport, ValidateSpec
from bakehouse_runtime.validate import read_as_training_would
from train_spec import data_spec
from validate_spec import report_of, spec

if TYPE_CHECKING:
    from pathlib import Path


def write_rows(path: Path, count: int) -> Path:
    path.write_text("q,a\nbroken\n" + "".join(f"question {i},answer {i}\n" for i in range(count)))
    return path


def test_command_prints_one_report(
    tmp_path: Path, tied_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(spec(tied_model, write_rows(tmp_path / "x.csv", 20))))
    assert main(["validate", str(file)]) == 0
    report = json.loads(capsys.readouterr().out)
    ValidateReport.model_validate(report)
    assert report["columns"] == ["q", "a"]
    assert (report["rows_total"], report["rows_kept"], report["rows_dropped"]) == (21, 20, 1)
    assert report["dropped"] == [{"line": 2, "reason": "1 field instead of 2"}]
    assert (report["train_examples"], report["eval_examples"]) == (16, 4)
    assert report["steps_total"] == 6
    assert sum(bin["count"] for bin in report["token_histogram"]) == 20
    assert report["format"] == {
        "format": "prompt_completion",
        "input_column": "q",
        "output_column": "a",
        "system_column": None,
        "rejected_column": None,
        "label_column": None,
    }
    assert report["samples"][0] == {
        "turns": [
            {"role": "user", "content": "question 0", "learnt": False},
            {"role": "assistant", "content": "answer 0", "learnt": True},
        ],
        "parts": [
            {
                "text": "<|im_start|>user\nquestion 0<|im_end|>\n<|im_start|>assistant\n",
                "learnt": False,
            },
            {"text": "answer 0<|im_end|>\n", "learnt": True},
        ],
        "tokens": report["samples"][0]["tokens"],
        "rejected": None,
        "label": None,
        "reference": None,
    }
    assert report["critical_errors"] == []


def test_counts_padding_tokens_separately(tmp_path: Path, tiny_model: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("q,a\n" + "".join(f"why {i}?,{'so ' * (i % 7)}there\n" for i in range(40)))
    single, batched = (
        report_of(spec(tiny_model, data, parameters=spec(tiny_model, data)["parameters"] | sizes))
        for sizes in ({"batch_size": 1, "eval_batch_size": 1}, {})
    )
    assert single.train_padded_tokens == single.train_tokens == batched.train_tokens
    assert single.eval_padded_tokens == single.eval_tokens == batched.eval_tokens
    assert 1.1 * batched.train_tokens < batched.train_padded_tokens < 2 * batched.train_tokens
    assert batched.eval_padded_tokens > batched.eval_tokens


def test_reports_blocking_faults_as_critical_errors(tmp_path: Path, tiny_model: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("question,answer\n1,2\n")
    report = report_of(spec(tiny_model, data))
    assert report.critical_errors == ["x.csv has no column q. Its columns are: question, answer."]
    assert report.columns == ["question", "answer"]
    data.write_bytes(b"q,a\n\xff,1\n")
    assert "not UTF-8" in report_of(spec(tiny_model, data)).critical_errors[0]
    assert report_of(spec(tmp_path, data)).critical_errors == ["The base model has no config.json."]


def write_parquet_bomb(path: Path, rows: int, characters: int) -> Path:
    """Writes a parquet file that repeats one long text."""
    text = "".join(chr(97 + number * number % 26) for number in range(characters))
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    pq.write_table(pa.table({"q": pa.array(["why"] * rows), "a": column}), path)
    return path


def test_reads_a_highly_compressed_parquet_file_in_pieces(tmp_path: Path) -> None:
    data = write_parquet_bomb(tmp_path / "x.parquet", rows=240, characters=1_000_000)
    assert data.stat().st_size < 100_000
    assert run_confined("x.parquet", longest_answer, data, memory_bytes=400 << 20) == 1_000_000


def test_rejects_a_parquet_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    data = write_parquet_bomb(tmp_path / "x.parquet", rows=5000, characters=1_000_000)
    with pytest.raises(PlainError, match=r"x\.parquet unpacks to more than 50 times its size"):
        longest_answer(data)


def longest_answer(data: Path) -> int:
    from bakehouse_runtime.data.conversations import Conversation
    from bakehouse_runtime.data.rows import read_rows

    rows = read_rows(data, data_spec(data.name)).rows
    return max(len(row.turns[1].content) for row in rows if isinstance(row, Conversation))


def test_reports_exceeded_memory(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "MEMORY_BYTES", 1 << 29)
    data = tmp_path / "x.json"
    data.write_text('[{"q": "why", "a": "' + "because " * 40_000_000 + '"}]')
    assert report_of(spec(tiny_model, data)).critical_errors == [
        "Reading x.json takes more than 0.5 GB of memory: use a smaller file, or one with shorter "
        "texts."
    ]


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        # Evaluated when it is compiled, within one instruction of Python.
        "{{ 7 ** 400000000 }}",
    ],
    ids=["loop", "power"],
)
def test_kills_an_endless_chat_template(template: str) -> None:
    with pytest.raises(PlainError, match="chat template takes longer than 5 seconds for one"):
        run_confined("x.csv", written, template)


def written(template: str) -> str:
    from bakehouse_runtime.data.templates import chat_template, jinja_template
    from bakehouse_runtime.data.turns import Turn

    jinja_template.TEMPLATE_LIMIT_S = 0.5
    rendered = chat_template.ChatTemplate(template, {}, date(2026, 11, 20))
    return rendered.render([Turn("user", "Who?")]).text


def test_kills_reading_after_the_time_limit(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "TIME_LIMIT_S", 0.0)
    (error,) = report_of(spec(tiny_model, write_rows(tmp_path / "x.csv", 5))).critical_errors
    assert error.startswith("Reading x.csv took longer than")


def test_lists_only_the_first_fifty_dropped_rows(tmp_path: Path, tiny_model: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("q,a\n" + "broken\n" * 80 + "q,a\nq,a\n")
    report = report_of(spec(tiny_model, data))
    assert (report.rows_dropped, len(report.dropped)) == (80, 50)


def test_gpu_needs_less_memory_for_weights_and_more_for_libraries(
    tmp_path: Path, tiny_model: Path
) -> None:
    specification = spec(tiny_model, write_rows(tmp_path / "x.csv", 5))
    # With a trained head, a GPU holds more of its logits than a CPU.
    specification["parameters"]["lora"]["target_modules"] = ["q_proj"]
    report = report_of(specification)
    weights = report.base_parameters * (5 - 2)
    libraries = 1_500_000_000 - 1_150_000_000
    assert report.gpu_memory_bytes - report.memory_bytes <= libraries - weights


def test_reports_a_base_unknown_to_llama_cpp_before_training(
    tmp_path: Path, tiny_model: Path
) -> None:
    data = write_rows(tmp_path / "x.csv", 5)
    assert report_of(spec(tiny_model, data)).gguf_obstacle is None
    other = tmp_path / "other"
    shutil.copytree(tiny_model, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "novel"}))
    report = report_of(spec(other, data))
    assert report.gguf_obstacle == (
        "Bakehouse does not know how llama.cpp stores the model family novel."
    )
    assert report.critical_errors == []
    del config["num_hidden_layers"]
    config["text_config"] = dict(config, n_layer=2)
    (other / "config.json").write_text(json.dumps(config))
    assert report_of(spec(other, data)).gguf_obstacle == (
        "llama.cpp needs a base whose config.json names num_hidden_layers."
    )


def printed(specification: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Printed:
    """Returns the report, and the progress printed before it."""
    report = read_as_training_would(ValidateSpec.model_validate(specification))
    lines = capsys.readouterr().out.splitlines()
    return Printed(report, [ValidateProgress.model_validate_json(line) for line in lines])


class Printed(NamedTuple):
    report: ValidateReport
    progress: list[ValidateProgress]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_estimates_a_long_file_from_its_first_rows(
    ending: str,
    tmp_path: Path,
    tied_model: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validate_module, "_SAMPLE_ROWS", 1000)
    monkeypatch.setattr(validate_module, "_PROGRESS_S", 0.0)
    rows = [{"q": f"question {i:05}", "a": f"answer {i:05}"} for i in range(5000)]
    path = write_table(tmp_path / f"x.{ending}", rows)
    report, progress = printed(spec(tied_model, path), capsys)
    assert [line.rows_read for line in progress] == [1000, 2000, 3000, 4000, 5000]
    for line, part in zip(progress, (0.2, 0.4, 0.6, 0.8, 1.0), strict=True):
        assert line.part == pytest.approx(part, rel=0.02)
    assert [line.sample is None for line in progress] == [False, True, True, True, True]
    sample = progress[0].sample
    assert sample is not None
    for name in ("rows_total", "rows_kept", "train_tokens", "eval_tokens", "steps_total"):
        assert getattr(sample, name) == pytest.approx(getattr(report, name), rel=0.02), name
    assert sum(bin_.count for bin_ in sample.token_histogram) == pytest.approx(5000, rel=0.02)
    assert sample.samples == report.samples
    assert sample.memory_bytes > 0
    assert (report.rows_total, report.train_examples) == (5000, 4000)


def test_makes_no_estimate_without_usable_rows(
    tmp_path: Path,
    tied_model: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validate_module, "_SAMPLE_ROWS", 1)
    monkeypatch.setattr(validate_module, "_PROGRESS_S", 0.0)
    text = "q,a\n" + "only one field\n" * 1500 + "why,because\n" * 1500
    path = tmp_path / "x.csv"
    path.write_text(text)
    report, progress = printed(spec(tied_model, path), capsys)
    assert progress[0].sample is not None
    assert progress[0].rows_read == 2500
    assert report.rows_dropped == 1500


def test_estimates_a_long_text_from_its_beginning(
    tmp_path: Path,
    tied_model: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validate_module, "_SAMPLE_ROWS", 1)
    monkeypatch.setattr(text_module, "_TEXT_SAMPLE_CHARACTERS", 20_000)
    path = tmp_path / "x.txt"
    monkeypatch.setattr(validate_module, "_PROGRESS_S", 0.0)
    monkeypatch.setattr(text_module, "_BATCH", 100)
    path.write_text("The baker gets up at four and bakes bread for the town. " * 2000)
    report, progress = printed(spec(tied_model, path), capsys)
    line, *later = progress
    assert line.sample is not None
    assert all(one.sample is None for one in later)
    assert [one.rows_read for one in later] == [*range(100, report.rows_total + 1, 100)]
    assert [one.part for one in later] == sorted(one.part for one in later)
    assert line.part == pytest.approx(20_000 / 112_000, rel=0.01)
    assert line.sample.train_tokens == pytest.approx(report.train_tokens, rel=0.05)


def write_table(path: Path, rows: list[dict[str, str]]) -> Path:
    """Writes the rows in the format of the file extension."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".csv":
        path.write_text("q,a\n" + "".join(f"{row['q']},{row['a']}\n" for row in rows))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text(json.dumps(rows))
    return path


def test_command_prints_the_estimate_before_the_report(
    tmp_path: Path, tied_model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(spec(tied_model, write_rows(tmp_path / "x.csv", 12_000))))
    assert main(["validate", str(file)]) == 0
    *progress, report = capfd.readouterr().out.splitlines()
    samples = [ValidateProgress.model_validate_json(line).sample for line in progress]
    assert sum(sample is not None for sample in samples) == 1
    assert ValidateReport.model_validate_json(report).rows_total == 12_001


def test_lowers_the_priority_only_after_the_first_estimate(
    tmp_path: Path,
    tied_model: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(validate_module, "_SAMPLE_ROWS", 1000)
    monkeypatch.setattr(validate_module, "_PROGRESS_S", 0.0)
    path = write_rows(tmp_path / "x.csv", 3000)
    printed_when: list[int] = []
    specification = ValidateSpec.model_validate(spec(tied_model, path))
    read_as_training_would(
        specification,
        on_estimated=lambda: printed_when.append(len(capfd.readouterr().out.splitlines())),
    )
    assert printed_when == [1]
