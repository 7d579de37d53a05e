"""What the base and the tuned model answer to rows that were held out, side by side.

Nobody pays for it, it takes about a tenth of the training at most, and whatever goes wrong in it
leaves the trained model as it is.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from ...errors import PlainError, StopRequested
from ...files import written_whole
from ...protocol import HeldOutAnswer, HeldOutAnswers

if TYPE_CHECKING:
    from pathlib import Path

    from peft import PeftModel
    from transformers import Trainer

    from ...data.builder import Examples
    from ...data.prepared import Prepared
    from ...data.questions import Question
    from ...server_client import Reporter

_ANSWERS_FILE = "held_out_answers.json"
_NEW_TOKENS = 64
_TEXT_CHARACTERS = 1000
# Of the beginning of a text that is to be gone on with.
_BEGINNING_TOKENS = 128
# Of the time that training took; a short one may take longer, since few rows are worth little.
_PART = 0.1
_SECONDS_MIN, _SECONDS_MAX = 10.0, 60.0


@dataclass(frozen=True)
class _Row:
    """A held-out row, cut where the answer begins."""

    question: Question
    prompt: list[int]
    expected: list[int]
    # Whether nothing of the example comes after `expected`.
    is_whole: bool


class _Until(StoppingCriteria):
    """Ends the writing where time is up or the run is stopped."""

    def __init__(self, seconds: float, reporter: Reporter) -> None:
        self._deadline = time.monotonic() + seconds
        self._reporter = reporter
        self.is_late = False

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> Any:
        self.is_late = self.is_late or time.monotonic() > self._deadline
        ends = self.is_late or self._reporter.stop_requested
        return torch.full((len(input_ids),), ends, dtype=torch.bool, device=input_ids.device)


def answer_held_out(
    trainer: Trainer, prepared: Prepared, seconds: float, reporter: Reporter, work_dir: Path
) -> None:
    """Asks the base and the tuned model what some held-out rows ask, and reports their answers, or
    why they were not asked; once, however often the run restarts. `seconds` is how long training
    took.

    Raises StopRequested.
    """
    answers_file = work_dir / _ANSWERS_FILE
    if answers_file.exists():
        reporter.held_out_answers(
            HeldOutAnswers.model_validate_json(answers_file.read_text("utf-8"))
        )
        return
    is_text = prepared.format is None or prepared.format.format == "text"

    def note(rows: list[HeldOutAnswer], skipped: str | None) -> HeldOutAnswers:
        task = "continue" if is_text else "answer"
        answers = HeldOutAnswers(task=task, rows=rows, skipped=skipped)
        with written_whole(answers_file) as partial:
            partial.write_text(answers.model_dump_json(), encoding="utf-8")
        return answers

    reporter.phase("asking both models", counted=False)
    # For the next start, should this process be killed here: it would be killed again.
    note([], "The run was interrupted while both models were asked.")
    try:
        answers = note(_ask(trainer, prepared, seconds, reporter), None)
    except StopRequested:
        answers_file.unlink()
        raise
    except PlainError as error:
        answers = note([], str(error))
    except Exception:
        # The model is trained, and worth more than this.
        traceback.print_exc()
        answers = note([], "The models could not be asked.")
    reporter.held_out_answers(answers)


def _ask(
    trainer: Trainer, prepared: Prepared, seconds: float, reporter: Reporter
) -> list[HeldOutAnswer]:
    """Raises PlainError with why the models are not asked, and StopRequested."""
    model = cast("PeftModel", trainer.model)
    base_model: Any = model.get_base_model()
    tokenizer: Any = trainer.processing_class
    allowed = min(_SECONDS_MAX, max(_SECONDS_MIN, _PART * seconds))
    rows = _rows(prepared, getattr(model.config, "max_position_embeddings", None))
    # A prompt that is being read cannot be stopped: half of the time, at the speed of training,
    # which does more to each token.
    speed = trainer.state.num_input_tokens_seen / max(seconds, 0.001)
    rows = _affordable(rows, speed * allowed / 2)
    if not rows:
        _refuse_slow(allowed)
    until = _Until(allowed, reporter)
    # In place of the base's own, which may sample.
    stops = _stops(base_model.generation_config, tokenizer, rows)
    base_model.generation_config = GenerationConfig(
        max_new_tokens=_NEW_TOKENS,
        do_sample=False,
        use_cache=True,
        eos_token_id=sorted(stops),
        pad_token_id=tokenizer.pad_token_id,
    )
    model.eval()
    generated: list[list[str]] = []
    for adapter in (model.disable_adapter(), contextlib.nullcontext()):
        with adapter, torch.inference_mode(), _precision(trainer):
            generated.append(_write(model, tokenizer, rows, stops, until))
        if reporter.stop_requested:
            raise StopRequested
        if until.is_late:
            _refuse_slow(allowed)
    return [
        HeldOutAnswer(
            question=_cut(
                _decoded(tokenizer, row.prompt) if row.question.text is None else row.question.text
            ),
            earlier_turns=row.question.earlier_turns,
            expected=_displayed(tokenizer, row.expected, ended=row.is_whole),
            base=base,
            tuned=tuned,
        )
        for row, base, tuned in zip(rows, *generated, strict=True)
    ]


def _refuse_slow(allowed: float) -> NoReturn:
    raise PlainError(
        f"Asking both models takes longer than the {allowed:.0f} s that there are for it after a "
        "run of this length."
    )


def _rows(prepared: Prepared, max_positions: int | None) -> list[_Row]:
    """The rows to ask about. Raises PlainError where there is none."""
    if len(prepared.held_out) == 0:
        raise PlainError("No row was held out, so there is nothing to compare.")
    if not prepared.questions:
        raise PlainError("None of the first rows of the file was held out.")
    rows = [_row(prepared.held_out, question) for question in prepared.questions]
    room = np.inf if max_positions is None else max_positions - _NEW_TOKENS
    fitting = [row for row in rows if 0 < len(row.prompt) <= room]
    if not fitting:
        raise PlainError("The held-out rows leave the model no room for an answer.")
    return fitting


def _row(examples: Examples, question: Question) -> _Row:
    tokens = examples.example(question.example).tolist()
    if question.text is None:
        begins = min(len(tokens) // 2, _BEGINNING_TOKENS)
        ends = min(len(tokens), begins + _NEW_TOKENS)
    else:
        learnt = np.flatnonzero(examples.learnt_of(question.example))
        # The last answer: what is learnt without a gap, up to the end.
        gaps = np.flatnonzero(np.diff(learnt) > 1)
        begins = int(learnt[gaps[-1] + 1] if len(gaps) else learnt[0])
        ends = int(learnt[-1]) + 1
    return _Row(
        question,
        tokens[:begins],
        tokens[begins:ends],
        question.text is not None or ends == len(tokens),
    )


def _affordable(rows: list[_Row], tokens: float) -> list[_Row]:
    """Those of the rows whose prompts, filled up to the longest, are no more tokens than that."""
    chosen: list[_Row] = []
    for row in rows:
        longest = max(len(one.prompt) for one in (*chosen, row))
        if longest * (len(chosen) + 1) <= tokens:
            chosen.append(row)
    return chosen


def _stops(known: GenerationConfig, tokenizer: Any, rows: list[_Row]) -> set[int]:
    """The tokens that end an answer in this model or in this data."""
    ends: Any = known.eos_token_id
    special = set(tokenizer.all_special_ids)
    stops = {tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}
    for row in rows:
        stops.update([token for token in row.expected if token in special][-1:])
    return stops - {None}


def _precision(trainer: Trainer) -> contextlib.AbstractContextManager[Any]:
    """The numbers that training computed with."""
    arguments = trainer.args
    return torch.autocast(
        arguments.device.type,
        dtype=torch.float16 if arguments.fp16 else torch.bfloat16,
        enabled=arguments.fp16 or arguments.bf16,
    )


def _write(
    model: PeftModel, tokenizer: Any, rows: list[_Row], stops: set[int], until: _Until
) -> list[str]:
    """What the model writes after each prompt."""
    longest = max(len(row.prompt) for row in rows)
    # Filled up on the left: the answer follows the prompt.
    gaps = [longest - len(row.prompt) for row in rows]
    prompts = [
        [tokenizer.pad_token_id] * gap + row.prompt for gap, row in zip(gaps, rows, strict=True)
    ]
    masks = [[0] * gap + [1] * (longest - gap) for gap in gaps]
    written = model.generate(
        input_ids=torch.tensor(prompts, device=model.device),
        attention_mask=torch.tensor(masks, device=model.device),
        stopping_criteria=StoppingCriteriaList([until]),
    )
    texts = []
    for answer in written[:, longest:].tolist():
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
