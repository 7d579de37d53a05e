"""Generates the answers of the base and the tuned model to held-out rows, side by side.

The user is not billed for this. It has a time limit, and its failures do not affect the trained
model.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from peft import PeftModel
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from ...errors import PlainError, StopRequested
from ...files import read_object, write_atomically, write_json
from ...protocol import HeldOutAnswer, HeldOutAnswers

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import Trainer

    from ...data.builder import Examples
    from ...data.prepared import Prepared
    from ...data.questions import Question
    from ...reporter import Reporter

_ANSWERS_FILE = "held_out_answers.json"
_NOT_ASKED = "The models could not be asked."
_NEW_TOKENS = 64
_TEXT_CHARACTERS = 1000
# The beginning of a text that the models continue.
_BEGINNING_TOKENS = 128
# Maximum tokens of all prompts of a model, padded to the longest. Limits the memory that is needed
# in addition to the training's.
_PROMPT_TOKENS = 2048
# An idle machine takes seconds; a busy one may take up to this.
_SECONDS = 300.0
# If the time limit truncates answers to fewer tokens than this, they are useless.
_TOKENS_MIN = 8


@dataclass(frozen=True)
class _Row:
    """A held-out row, cut at the start of the answer."""

    question: Question
    prompt: list[int]
    expected: list[int]
    # Whether `expected` extends to the end of the example.
    is_whole: bool
    # The reference of a prompt without an answer, if any.
    reference: str | None = None


class _Until(StoppingCriteria):
    """Stops generation at the time limit or when the run is stopped."""

    def __init__(self, reporter: Reporter) -> None:
        self._deadline = time.monotonic() + _SECONDS
        self._reporter = reporter
        self.is_late = False

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> Any:
        self.is_late = self.is_late or time.monotonic() > self._deadline
        ends = self.is_late or self._reporter.stop_requested
        return torch.full((len(input_ids),), ends, dtype=torch.bool, device=input_ids.device)


def generate_base_answers(
    trainer: Trainer, prepared: Prepared, reporter: Reporter, file: Path
) -> None:
    """Generates answers to some held-out rows before a full fine-tune, which has no adapter to
    disable afterwards. `file` stores the answers for `report_held_out_answers`, so that a
    restarted run does not repeat this.

    Raises StopRequested.
    """
    if file.exists():
        return
    reporter.phase("asking the base model", counted=False)
    # If generation kills this process, the next start must skip it.
    write_json(file, {"skipped": "The run was interrupted while the base model was asked."})
    try:
        rows = _rows(prepared, _max_positions(trainer))
        asked: dict[str, Any] = {"answers": _written(trainer, rows, reporter)}
    except StopRequested:
        file.unlink()
        raise
    except PlainError as error:
        asked = {"skipped": str(error)}
    except Exception:
        traceback.print_exc()
        asked = {"skipped": _NOT_ASKED}
    write_json(file, asked)


def report_held_out_answers(
    trainer: Trainer, prepared: Prepared, reporter: Reporter, work_dir: Path, base_answers: Path
) -> None:
    """Generates and reports the answers of the base and the tuned model to some held-out rows, or
    why there are none. A restarted run does not repeat this.

    Raises StopRequested.
    """
    answers_file = work_dir / _ANSWERS_FILE
    if answers_file.exists():
        reporter.held_out_answers(
            HeldOutAnswers.model_validate_json(answers_file.read_text("utf-8"))
        )
        return
    is_text = prepared.format is None or prepared.format.format == "text"

    def record(
        rows: list[HeldOutAnswer], skipped: str | None, questions: list[str]
    ) -> HeldOutAnswers:
        task = "continue" if is_text else "answer"
        answers = HeldOutAnswers(task=task, rows=rows, skipped=skipped, questions=questions)
        with write_atomically(answers_file) as partial:
            partial.write_text(answers.model_dump_json(), encoding="utf-8")
        return answers

    reporter.phase("asking both models", counted=False)
    questions: list[str] = []
    try:
        rows = _rows(prepared, _max_positions(trainer))
        questions = _plain_questions(rows)
        # If generation kills this process, the next start must skip it.
        record([], "The run was interrupted while both models were asked.", questions)
        answers = record(_ask(trainer, rows, reporter, base_answers), None, [])
    except StopRequested:
        answers_file.unlink()
        raise
    except PlainError as error:
        answers = record([], str(error), questions)
    except Exception:
        # A failure here must not lose the trained model.
        traceback.print_exc()
        answers = record([], _NOT_ASKED, questions)
    reporter.held_out_answers(answers)


def _ask(
    trainer: Trainer, rows: list[_Row], reporter: Reporter, base_answers: Path
) -> list[HeldOutAnswer]:
    """Raises PlainError with the reason why there are no answers, and StopRequested."""
    model: Any = trainer.model
    adapter: Any = getattr(model, "active_peft_config", None)
    if adapter is None:
        asked = read_object(base_answers)
        if "answers" not in asked:
            raise PlainError(asked["skipped"])
        answers = zip(asked["answers"], _written(trainer, rows, reporter), strict=True)
    elif adapter.use_dora:
        # PEFT cannot apply magnitudes to a part of a batch.
        with model.disable_adapter():
            of_base = _written(trainer, rows, reporter)
        answers = zip(of_base, _written(trainer, rows, reporter), strict=True)
    else:
        # PEFT's name for the model without its adapter. Base and tuned model answer in one batch,
        # so that the time limit truncates both equally.
        adapters = ["__base__", model.active_adapter]
        both = _written(trainer, rows, reporter, adapters)
        answers = zip(both[: len(rows)], both[len(rows) :], strict=True)
    tokenizer: Any = trainer.processing_class
    return [
        HeldOutAnswer(
            question=_cut(
                _decoded(tokenizer, row.prompt) if row.question.text is None else row.question.text
            ),
            earlier_turns=row.question.earlier_turns,
            expected=_cut(row.reference or "")
            or _displayed(tokenizer, row.expected, ended=row.is_whole),
            base=base,
            tuned=tuned,
        )
        for row, (base, tuned) in zip(rows, answers, strict=True)
    ]


def _written(
    trainer: Trainer, rows: list[_Row], reporter: Reporter, adapters: list[str] | None = None
) -> list[str]:
    """Returns the generated text after each prompt; with `adapters` once per adapter, in order.
    Raises PlainError and StopRequested."""
    model: Any = trainer.model
    base: Any = model.get_base_model() if isinstance(model, PeftModel) else model
    tokenizer: Any = trainer.processing_class
    known = base.generation_config
    stops = _stops(known, tokenizer, rows)
    # Replaces the base's own configuration, which may sample.
    base.generation_config = GenerationConfig(
        max_new_tokens=_NEW_TOKENS,
        do_sample=False,
        use_cache=True,
        eos_token_id=sorted(stops),
        pad_token_id=tokenizer.pad_token_id,
    )
    model.eval()
    try:
        with torch.inference_mode(), _precision(trainer):
            texts = _write(model, tokenizer, rows, stops, _Until(reporter), adapters)
    finally:
        base.generation_config = known
    if reporter.stop_requested:
        raise StopRequested
    return texts


def _max_positions(trainer: Trainer) -> int | None:
    model: Any = trainer.model
    return getattr(model.config, "max_position_embeddings", None)


def _rows(prepared: Prepared, max_positions: int | None) -> list[_Row]:
    """Returns the rows to ask. Raises PlainError if there are none."""
    if len(prepared.held_out) == 0:
        raise PlainError("No row was held out, so there is nothing to compare.")
    if not prepared.questions:
        raise PlainError("None of the first rows of the file was held out.")
    rows = [_row(prepared.held_out, question) for question in prepared.questions]
    room = np.inf if max_positions is None else max_positions - _NEW_TOKENS
    fitting = [row for row in rows if 0 < len(row.prompt) <= room]
    if not fitting:
        raise PlainError("The held-out rows leave the model no room for an answer.")
    return _affordable(fitting)


def _plain_questions(rows: list[_Row]) -> list[str]:
    """Returns the questions that can be asked without earlier turns."""
    return [
        _cut(row.question.text)
        for row in rows
        if row.question.text is not None and row.question.earlier_turns == 0
    ]


def _row(examples: Examples, question: Question) -> _Row:
    tokens = examples.example(question.example).tolist()
    if examples.references is not None:
        reference = examples.references[question.example]
        return _Row(question, tokens, [], is_whole=True, reference=reference)
    if question.text is None:
        begins = min(len(tokens) // 2, _BEGINNING_TOKENS)
        ends = min(len(tokens), begins + _NEW_TOKENS)
    else:
        learnt = np.flatnonzero(examples.learnt_of(question.example))
        # The last answer is the last uninterrupted span that counts in the loss.
        gaps = np.flatnonzero(np.diff(learnt) > 1)
        begins = int(learnt[gaps[-1] + 1] if len(gaps) else learnt[0])
        ends = int(learnt[-1]) + 1
    return _Row(
        question,
        tokens[:begins],
        tokens[begins:ends],
        question.text is not None or ends == len(tokens),
    )


def _affordable(rows: list[_Row]) -> list[_Row]:
    """Returns the first row, and further rows as far as their prompts fit into memory."""
    chosen: list[_Row] = []
    for row in rows:
        longest = max(len(one.prompt) for one in (*chosen, row))
        if not chosen or longest * (len(chosen) + 1) <= _PROMPT_TOKENS:
            chosen.append(row)
    return chosen


def _stops(known: GenerationConfig, tokenizer: Any, rows: list[_Row]) -> set[int]:
    """Returns the tokens that end an answer in this model or in this data."""
    ends: Any = known.eos_token_id
    special = set(tokenizer.all_special_ids)
    stops = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}
    for row in rows:
        stops.update([token for token in row.expected if token in special][-1:])
    return stops - {None}


def _precision(trainer: Trainer) -> contextlib.AbstractContextManager[Any]:
    """Returns the autocast settings of training."""
    arguments = trainer.args
    return torch.autocast(
        arguments.device.type,
        dtype=torch.float16 if arguments.fp16 else torch.bfloat16,
        enabled=arguments.fp16 or arguments.bf16,
    )


def _write(
    model: Any,
    tokenizer: Any,
    rows: list[_Row],
    stops: set[int],
    until: _Until,
    adapters: list[str] | None,
) -> list[str]:
    """Raises PlainError if the time limit leaves almost no text."""
    longest = max(len(row.prompt) for row in rows)
    # Padded on the left, because the answer follows the prompt.
    gaps = [longest - len(row.prompt) for row in rows]
    prompts = [
        [tokenizer.pad_token_id] * gap + row.prompt for gap, row in zip(gaps, rows, strict=True)
    ]
    masks = [[0] * gap + [1] * (longest - gap) for gap in gaps]
    times = len(adapters or [""])
    named = {"adapter_names": [name for name in adapters for _ in rows]} if adapters else {}
    written = model.generate(
        input_ids=torch.tensor(prompts * times, device=model.device),
        attention_mask=torch.tensor(masks * times, device=model.device),
        stopping_criteria=StoppingCriteriaList([until]),
        **named,
    )[:, longest:]
    if until.is_late and written.shape[1] < _TOKENS_MIN:
        raise PlainError(
            f"In the {_SECONDS / 60:.0f} minutes that there are for it, next to nothing was "
            "written."
        )
    texts = []
    for answer in written.tolist():
        end = next((at for at, token in enumerate(answer) if token in stops), None)
        texts.append(_displayed(tokenizer, answer[:end], ended=end is not None))
    return texts


def _displayed(tokenizer: Any, tokens: list[int], *, ended: bool) -> str:
    text = _decoded(tokenizer, tokens)
    return _cut(text) if ended else f"{_cut(text)}…"


def _decoded(tokenizer: Any, tokens: list[int]) -> str:
    return str(tokenizer.decode(tokens, skip_special_tokens=True)).strip()


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[:_TEXT_CHARACTERS]}…"
