from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.questions import Question
from bakehouse_runtime.errors import StopRequested
from bakehouse_runtime.train.lora.run import read_inputs
from train_spec import finish, questions, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import HeldOutAnswers
    from bakehouse_server import BakehouseServer


class Listener:
    def __init__(self) -> None:
        self.stop_requested = False
        self.phases: list[tuple[str, bool]] = []
        self.answers: list[HeldOutAnswers] = []

    def phase(self, phase: str, *, counted: bool = True) -> None:
        self.phases.append((phase, counted))

    def held_out_answers(self, answers: HeldOutAnswers) -> None:
        self.answers.append(answers)


@pytest.fixture
def trained(server: BakehouseServer, tmp_path: Path, tied_model: Path) -> tuple[Any, Any]:
    """A trainer with an adapter that changes the model's answers, and its data."""
    import torch

    from bakehouse_runtime.train.lora.trainer import build_trainer

    spec = train_spec(server, tmp_path, tied_model)
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    targets, prepared = read_inputs(spec, tied_model, tmp_path)
    trainer = build_trainer(
        spec, tied_model, tmp_path / "out", prepared, targets.modules, "cpu", 1, []
    )
    torch.manual_seed(1)
    model: Any = trainer.model
    for name, weights in model.named_parameters():
        if "lora_B" in name:
            weights.data.normal_(std=0.2)
    return trainer, prepared


def ask(trained: tuple[Any, Any], folder: Path, listener: Listener) -> None:
    from bakehouse_runtime.train.lora.held_out import report_held_out_answers

    reporter: Any = listener
    report_held_out_answers(*trained, reporter, folder, folder / "base_answers.json")


@pytest.mark.soak
def test_reports_both_models_answers_to_held_out_rows(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model, epochs=20)
    assert finish(start(spec)) == 0
    [report] = server.of_type("held_out_answers")
    assert (report["task"], report["skipped"], len(report["rows"])) == ("answer", None, 5)
    answers = dict(questions())
    asked = [row["question"] for row in report["rows"]]
    # In file order.
    assert asked == [question for question in answers if question in asked]
    for row in report["rows"]:
        assert row["expected"] == answers[row["question"]]
        assert row["base"] not in ("", row["expected"])
        # It has learnt the form of answers, and when to stop.
        assert row["tuned"].startswith("It is ")
        assert row["tuned"].endswith("loaf.")
    free = [one["phase"] for one in server.of_type("phase") if not one["counted"]]
    assert free == ["asking both models", "saving", "uploading"]


def test_each_model_generates_its_likeliest_tokens(
    trained: tuple[Any, Any], tmp_path: Path
) -> None:
    import torch

    listener = Listener()
    ask(trained, tmp_path, listener)
    [answers] = listener.answers
    trainer, prepared = trained
    model, tokenizer = trainer.model, trainer.processing_class

    def likeliest(tokens: list[int]) -> str:
        written: list[int] = []
        for _ in range(64):
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, trainer.args.bf16):
                logits = model(input_ids=torch.tensor([[*tokens, *written]])).logits
            written.append(int(logits[0, -1].argmax()))
            if written[-1] == tokenizer.eos_token_id:
                return tokenizer.decode(written, skip_special_tokens=True).strip()
        return tokenizer.decode(written, skip_special_tokens=True).strip() + "…"

    first = prepared.questions[0].example
    tokens = prepared.held_out.example(first).tolist()
    prompt = tokens[: prepared.held_out.learnt_of(first).tolist().index(True)]
    assert answers.rows[0].tuned == likeliest(prompt)
    with model.disable_adapter():
        assert answers.rows[0].base == likeliest(prompt)
    assert answers.rows[0].base != answers.rows[0].tuned


def slow_down(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Makes each reading of the clock advance it by `seconds`; generation reads it once per
    token."""
    ticks = itertools.count(step=seconds)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))


def test_keeps_answers_truncated_by_the_time_limit(
    trained: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    ask(trained, tmp_path, listener)
    (tmp_path / "held_out_answers.json").unlink()
    slow_down(monkeypatch, 20)
    ask(trained, tmp_path, listener)
    whole, cut = listener.answers
    assert (cut.skipped, len(cut.rows)) == (None, 5)
    for row, all_of_it in zip(cut.rows, whole.rows, strict=True):
        assert row.question == all_of_it.question
        for short, long in ((row.base, all_of_it.base), (row.tuned, all_of_it.tuned)):
            assert short == long or (short.endswith("…") and len(short) < len(long))
            assert long.startswith(short.rstrip("…\ufffd"))
    assert cut.rows != whole.rows


def test_skips_models_that_generate_almost_nothing(
    trained: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    slow_down(monkeypatch, 60)
    ask(trained, tmp_path, listener)
    [answers] = listener.answers
    assert (answers.rows, answers.skipped) == (
        [],
        "In the 5 minutes that there are for it, next to nothing was written.",
    )
    assert answers.questions == [question.text for question in trained[1].questions]


def test_skips_prompts_that_exceed_the_memory(
    trained: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bakehouse_runtime.train.lora import held_out

    _, prepared = trained
    longest = max(len(prepared.held_out.example(one.example)) for one in prepared.questions)
    listener = Listener()
    for tokens in (2 * longest, 1):
        (tmp_path / "held_out_answers.json").unlink(missing_ok=True)
        monkeypatch.setattr(held_out, "_PROMPT_TOKENS", tokens)
        ask(trained, tmp_path, listener)
    some, first = (len(answers.rows) for answers in listener.answers)
    assert 2 <= some < 5
    assert first == 1


def test_a_restart_reports_the_same_answers(trained: tuple[Any, Any], tmp_path: Path) -> None:
    listener = Listener()
    ask(trained, tmp_path, listener)
    ask(trained, tmp_path, listener)
    assert listener.phases == [("asking both models", False)]
    assert listener.answers[0] == listener.answers[1]


def test_a_stop_defers_the_answers_to_the_next_attempt(
    trained: tuple[Any, Any], tmp_path: Path
) -> None:
    listener = Listener()
    listener.stop_requested = True
    with pytest.raises(StopRequested):
        ask(trained, tmp_path, listener)
    listener.stop_requested = False
    ask(trained, tmp_path, listener)
    assert len(listener.answers[0].rows) == 5


def test_does_not_retry_after_being_killed_during_the_answers(
    trained: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    listener = Listener()
    model = trained[0].model
    monkeypatch.setattr(model, "generate", die)
    with pytest.raises(KeyboardInterrupt):
        ask(trained, tmp_path, listener)
    ask(trained, tmp_path, listener)
    assert listener.answers[0].skipped == "The run was interrupted while both models were asked."
    assert len(listener.answers[0].questions or []) == 5


def test_failed_answers_do_not_fail_the_run(
    trained: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of memory")

    listener = Listener()
    monkeypatch.setattr(trained[0].model, "generate", fail)
    ask(trained, tmp_path, listener)
    assert listener.answers[0].skipped == "The models could not be asked."


def test_skips_the_answers_without_usable_rows(trained: tuple[Any, Any], tmp_path: Path) -> None:
    trainer, prepared = trained
    listener = Listener()

    def skipped(changed: Any) -> str | None:
        (tmp_path / "held_out_answers.json").unlink(missing_ok=True)
        ask((trainer, changed), tmp_path, listener)
        return listener.answers[-1].skipped

    empty = replace(
        prepared.held_out, starts=prepared.held_out.starts[:1], tokens=prepared.held_out.tokens[:0]
    )
    assert skipped(replace(prepared, held_out=empty)) == (
        "No row was held out, so there is nothing to compare."
    )
    assert skipped(replace(prepared, questions=[])) == (
        "None of the first rows of the file was held out."
    )
    trainer.model.config.max_position_embeddings = 70
    assert skipped(prepared) == "The held-out rows leave the model no room for an answer."


def test_continues_a_text(trained: tuple[Any, Any], tmp_path: Path) -> None:
    trainer, prepared = trained
    tokens = prepared.held_out.example(0).tolist()
    text = replace(prepared, format=None, questions=[Question(0, None, 0)])
    listener = Listener()
    ask((trainer, text), tmp_path, listener)
    [answers] = listener.answers
    decode = trainer.processing_class.decode
    assert answers.task == "continue"
    half = len(tokens) // 2
    assert answers.rows[0].question == decode(tokens[:half], skip_special_tokens=True).strip()
    assert answers.rows[0].expected == decode(tokens[half:], skip_special_tokens=True).strip()
