from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bakehouse_server import AUTHORIZED_CLIENT
from parity import compare
from serving import Serving, serve_spec
from tiny_model import write_tiny_gguf, write_tiny_model
from train_spec import finish, questions, start, train_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakehouse_server import BakehouseServer


@pytest.fixture(scope="module")
def tiny_gguf(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tiny_model, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def adapter(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an adapter trained on the tiny model, lm_head included."""
    from bakehouse_server import BakehouseServer

    folder = tmp_path_factory.mktemp("adapter")
    with BakehouseServer(folder / "artefacts") as server:
        modules = ["q_proj", "k_proj", "v_proj", "down_proj", "lm_head"]
        spec = train_spec(server, folder, tiny_model, lora={"target_modules": modules})
        assert finish(start(spec)) == 0
    return folder / "artefacts"


@pytest.fixture
def serving(
    server: BakehouseServer, tmp_path: Path, tiny_gguf: Path, adapter: Path
) -> Iterator[Serving]:
    inputs = [
        {"name": "base_model", "files": [server.add_input(tiny_gguf, "tiny.gguf")]},
        {"name": "a1", "files": [server.add_input(adapter / "adapter.gguf", "adapter.gguf")]},
    ]
    running = Serving(server, tmp_path, serve_spec(server, tmp_path, inputs))
    yield running
    running.process.kill()
    running.process.wait()


def test_requires_the_api_key(serving: Serving) -> None:
    question = {"prompt": "The", "max_tokens": 1}
    for path, body in (("/v1/completions", question), ("/slots", None), ("/metrics", None)):
        for headers in ({}, {"Authorization": "Bearer another"}):
            response = httpx.request(
                "POST" if body else "GET", serving.url + path, json=body, headers=headers
            )
            assert response.status_code == 401, path
    assert AUTHORIZED_CLIENT.post(f"{serving.url}/v1/completions", json=question).is_success


def test_cors_headers_allow_no_origin(serving: Serving, tmp_path: Path) -> None:
    answer = AUTHORIZED_CLIENT.get(
        f"{serving.url}/v1/models", headers={"Origin": "https://example.com"}
    )
    assert answer.headers["access-control-allow-origin"] == "none"
    assert "CORS" not in (tmp_path / "log").read_text()


def test_serves_the_adapter_that_peft_trained(
    serving: Serving, tiny_model: Path, adapter: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_model), adapter)
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], add_generation_prompt=True
        )["input_ids"]
        for question, _ in questions()[::2]
    ]
    assert len(prompts) == 20
    # Base and adapter alternate on the same prompts, so that a shared cache would be noticed.
    for number, prompt in enumerate(prompts):
        tuned = compare(serving, model, prompt, scale=1.0)
        assert tuned.is_same, tuned
        assert tuned.compared == tuned.tokens, tuned
        if number < 3:
            with model.disable_adapter():
                untuned = compare(serving, model, prompt, scale=0.0)
                assert untuned.is_same, untuned
                # Check that the comparison detects a missing adapter, and an adapter at 0.9 of its
                # scale.
                assert not compare(serving, model, prompt, scale=1.0).is_same
            assert not compare(serving, model, prompt, scale=0.9).is_same
            again = compare(serving, model, prompt, scale=1.0)
            assert again.is_same, again
    metrics = AUTHORIZED_CLIENT.get(f"{serving.url}/metrics").text
    assert "llamacpp:requests_processing 0" in metrics


def test_renders_a_conversation_as_in_training(serving: Serving, tiny_model: Path) -> None:
    from bakehouse_runtime.data.tokens import read_model_tokens
    from bakehouse_runtime.data.turns import Turn

    turns = [
        Turn("system", "Be brief."),
        Turn("user", "Who bakes?"),
        Turn("assistant", "Ada."),
        Turn("user", "Sure?"),
        Turn("assistant", "Yes."),
    ]
    trained = read_model_tokens(tiny_model).conversation(turns)
    request = {"messages": [turn._asdict() for turn in turns[:-1]]}
    prompt = AUTHORIZED_CLIENT.post(
        f"{serving.url}/apply-template", json=request, timeout=60
    ).json()["prompt"]
    assert prompt == trained.text[: trained.learnt[-1][0]]


@pytest.mark.parametrize("begins", [False, True], ids=["no begin token", "begin token"])
def test_renders_a_base_without_a_chat_template_as_in_training(
    server: BakehouseServer, tmp_path: Path, begins: bool
) -> None:
    from bakehouse_runtime.data.tokens import read_model_tokens
    from bakehouse_runtime.data.turns import Turn

    base = write_tiny_model(tmp_path / "base", tied=False, template=None, begins=begins)
    gguf = write_tiny_gguf(base, tmp_path / "tiny.gguf", template=None, begins=begins)
    inputs = [{"name": "base_model", "files": [server.add_input(gguf, "tiny.gguf")]}]
    running = Serving(server, tmp_path, serve_spec(server, tmp_path, inputs) | {"adapters": []})
    try:
        turns = [
            Turn("system", "Be brief."),
            Turn("user", "Who bakes?"),
            Turn("assistant", "Ada."),
            Turn("user", "Sure?"),
            Turn("assistant", "Yes."),
        ]
        tokens = read_model_tokens(base)
        trained = tokens.conversation(turns)
        read = trained.text[: trained.learnt[-1][0]]
        assert read.endswith("Be brief.\nWho bakes?\nAda.<|im_end|>\nSure?\n")
        request = {"messages": [turn._asdict() for turn in turns[:-1]]}
        prompt = AUTHORIZED_CLIENT.post(
            f"{running.url}/apply-template", json=request, timeout=60
        ).json()
        assert read == ("<|im_start|>" if begins else "") + prompt["prompt"]
        (encoding,) = tokens.encode_batch([read])
        content = {"content": prompt["prompt"], "add_special": True, "parse_special": True}
        served = AUTHORIZED_CLIENT.post(f"{running.url}/tokenize", json=content, timeout=60).json()[
            "tokens"
        ]
        assert served == encoding.ids
        answer = AUTHORIZED_CLIENT.post(
            f"{running.url}/v1/chat/completions", json=request | {"max_tokens": 4}, timeout=60
        ).json()
        assert answer["usage"]["prompt_tokens"] == len(encoding.ids)
    finally:
        running.process.kill()
        running.process.wait()


def test_stop_waits_for_running_answers(serving: Serving) -> None:
    request = {"prompt": "The", "max_tokens": 100, "stream": True, "ignore_eos": True}
    with AUTHORIZED_CLIENT.stream(
        "POST", f"{serving.url}/v1/completions", json=request, timeout=60
    ) as answer:
        lines = (line for line in answer.iter_lines() if line)
        next(lines)
        serving.process.send_signal(signal.SIGTERM)
        rest = list(lines)
    assert rest[-1] == "data: [DONE]"
    assert serving.process.wait(60) == 0
    kinds = [report["type"] for report in serving.server.reports]
    assert kinds[-1] == "stopped"
    assert "leaving" not in kinds


def test_reports_leaving_and_finishes_answers_after_sigterm(
    server: BakehouseServer, tmp_path: Path, tiny_gguf: Path
) -> None:
    inputs = [{"name": "base_model", "files": [server.add_input(tiny_gguf, "tiny.gguf")]}]
    spec = serve_spec(server, tmp_path, inputs) | {"adapters": [], "leave_seconds": 600}
    running = Serving(server, tmp_path, spec)
    try:
        request = {"prompt": "The", "max_tokens": 100, "stream": True, "ignore_eos": True}
        url = f"{running.url}/v1/completions"
        with AUTHORIZED_CLIENT.stream("POST", url, json=request, timeout=60) as answer:
            lines = (line for line in answer.iter_lines() if line)
            next(lines)
            running.process.send_signal(signal.SIGTERM)
            rest = list(lines)
        assert rest[-1] == "data: [DONE]"
        assert running.process.wait(60) == 0
    finally:
        running.process.kill()
        running.process.wait()
    last = server.reports[-2:]
    assert [report["type"] for report in last] == ["leaving", "stopped"]
    assert last[0]["within_seconds"] == 600


def test_finishes_answers_when_replaced(
    serving: Serving,
) -> None:
    request = {"prompt": "The", "max_tokens": 100, "stream": True, "ignore_eos": True}
    with AUTHORIZED_CLIENT.stream(
        "POST", f"{serving.url}/v1/completions", json=request, timeout=60
    ) as answer:
        lines = (line for line in answer.iter_lines() if line)
        next(lines)
        serving.server.drain_seconds, serving.server.command = 600, "stop"
        rest = list(lines)
    assert rest[-1] == "data: [DONE]"
    assert serving.process.wait(60) == 0
    assert serving.server.reports[-1]["type"] == "stopped"


@pytest.mark.soak
def test_stop_ends_a_hanging_server(serving: Serving) -> None:
    # The gateway rejects such a pattern; here it simulates a hang.
    schema = {"type": "string", "pattern": "^" + "(a|b|)" * 400 + "$"}
    request = {
        "messages": [{"role": "user", "content": "?"}],
        "max_tokens": 64,
        "temperature": 1,
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
    }
    url = serving.url
    # The client stays connected, because a disconnect would cancel the work between two tokens.
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(
            AUTHORIZED_CLIENT.post, f"{url}/v1/chat/completions", json=request, timeout=120
        )
        with pytest.raises(httpx.TimeoutException):
            while not answer.done():
                AUTHORIZED_CLIENT.get(f"{url}/metrics", timeout=2)
        assert AUTHORIZED_CLIENT.get(f"{url}/health").is_success
        serving.process.send_signal(signal.SIGTERM)
        assert serving.process.wait(60) != 0
        assert answer.exception() is not None
    assert serving.server.reports[-1]["type"] == "stopped"


def test_rereads_a_prompt_unless_its_slot_may_be_reused(serving: Serving) -> None:
    """The gateway's slots rely on this: another user's request reads all of its prompt."""
    prompt = "My number is 7391. " * 4

    def cached(**how: Any) -> int:
        answer = AUTHORIZED_CLIENT.post(
            f"{serving.url}/v1/completions",
            json={"prompt": prompt, "max_tokens": 1, "id_slot": 1, **how},
            timeout=120,
        )
        answer.raise_for_status()
        return int(answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"])

    assert cached(cache_prompt=False) == 0
    assert cached(cache_prompt=False) == 0
    assert cached(cache_prompt=True) > 10


def test_exits_if_the_server_no_longer_knows_the_workload(serving: Serving) -> None:
    assert AUTHORIZED_CLIENT.get(f"{serving.url}/health").is_success
    serving.server.faults = [410]
    assert serving.process.wait(60) == 0


def test_reports_an_invalid_file_in_one_sentence(server: BakehouseServer, tmp_path: Path) -> None:
    inputs = [
        {"name": "base_model", "files": [server.add_input(b"GGUF?", "tiny.gguf")]},
        {"name": "a1", "files": [server.add_input(b"?", "adapter.gguf")]},
    ]
    running = Serving(server, tmp_path, serve_spec(server, tmp_path, inputs))
    assert running.process.wait(60) == 1
    assert server.reports[-1]["type"] == "failed"
    assert server.reports[-1]["message"].startswith("llama.cpp cannot load tiny")


def test_names_a_missing_file(server: BakehouseServer, tmp_path: Path) -> None:
    inputs = [{"name": "base_model", "files": [server.add_input(b"", "other.gguf")]}]
    running = Serving(server, tmp_path, serve_spec(server, tmp_path, inputs))
    assert running.process.wait(60) == 1
    assert server.reports[-1]["message"] == "The input base_model has no file tiny.gguf."
