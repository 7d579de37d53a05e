"""Fine-tuning with OpenAI's client, configured by `OPENAI_BASE_URL` and `OPENAI_API_KEY`."""

import json

import openai
import pytest
from openai import OpenAI

client = OpenAI(max_retries=0)


def upload(name, *answers):
    turns = [
        [{"role": "user", "content": "Well?"}, {"role": "assistant", "content": answer}]
        for answer in answers
    ]
    rows = "".join(json.dumps({"messages": row}) + "\n" for row in turns)
    return client.files.create(file=(name, rows.encode()), purpose="fine-tune").id


def test_a_job_is_created_followed_and_cancelled():
    trained, held_out = upload("rows.jsonl", "Rye", "Spelt"), upload("held.jsonl", "Oats")
    job = client.fine_tuning.jobs.create(
        model="tiny base",
        training_file=trained,
        validation_file=held_out,
        suffix="bakery",
        seed=7,
        method={"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 2}}},
        metadata={"shop": "north"},
    )
    assert (job.training_file, job.validation_file) == (trained, held_out)
    assert (job.method.supervised.hyperparameters.n_epochs, job.seed) == (2, 7)
    assert job.id in [one.id for one in client.fine_tuning.jobs.list()]
    events = list(client.fine_tuning.jobs.list_events(job.id, limit=1))
    assert events[-1].message == f"Created fine-tuning job: {job.id}"
    assert any("and the validation file" in event.message for event in events)
    assert list(client.fine_tuning.jobs.checkpoints.list(job.id)) == []
    client.fine_tuning.jobs.cancel(job.id)
    assert client.fine_tuning.jobs.retrieve(job.id).status in {"running", "cancelled"}


def test_invalid_jobs_raise_the_clients_errors():
    trained = upload("rows.jsonl", "Rye")
    with pytest.raises(openai.BadRequestError) as wrong:
        client.fine_tuning.jobs.create(
            model="tiny base", training_file=trained, validation_file=trained
        )
    assert wrong.value.param == "validation_file"
    with pytest.raises(openai.NotFoundError) as missing:
        client.fine_tuning.jobs.create(model="gpt-9", training_file=trained)
    assert missing.value.param == "model"


def test_dpo_requires_preference_rows():
    with pytest.raises(openai.BadRequestError) as wrong:
        client.fine_tuning.jobs.create(
            model="tiny base",
            training_file=upload("rows.jsonl", "Rye"),
            method={"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.2, "n_epochs": 1}}},
        )
    assert wrong.value.param == "training_file"
    assert "DPO needs preferences" in wrong.value.message


def test_reinforcement_accepts_only_string_checks():
    rows = [
        {"messages": [{"role": "user", "content": f"{a} + 1?"}], "answer": str(a + 1)}
        for a in range(4)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    trained = client.files.create(file=("sums.jsonl", content), purpose="fine-tune").id

    def create(grader):
        return client.fine_tuning.jobs.create(
            model="tiny base",
            training_file=trained,
            method={"type": "reinforcement", "reinforcement": {"grader": grader}},
        )

    judge = {"type": "score_model", "name": "judge", "input": [], "model": "gpt-9"}
    with pytest.raises(openai.BadRequestError) as wrong:
        create(judge)
    assert wrong.value.param == "method.reinforcement.grader.type"
    check = {"type": "string_check", "name": "sum", "operation": "eq"}
    check |= {"input": "{{sample.output_text}}", "reference": "{{item.answer}}"}
    with pytest.raises(openai.BadRequestError) as unread:
        create(check)
    # The test server reads every file as question-answer rows.
    assert unread.value.param == "training_file"
    assert "GRPO needs prompts" in unread.value.message
