"""Tests with the starter model itself. They take minutes on two cores, so they need `pytest -m
soak`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.prepare import GGUF_NAME, prepare_smollm2
from bakehouse_runtime.protocol import TrainTextSpec
from bakehouse_server import AUTHORIZED_CLIENT
from parity import compare
from serving import Serving, serve_spec
from train_spec import LINEAR, finish, start, train_spec

if TYPE_CHECKING:
    from bakehouse_server import BakehouseServer

pytestmark = pytest.mark.soak
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2")
    for form in ("gguf", "safetensors"):
        prepare_smollm2(form, folder)
    return folder


def training_folder(smollm2: Path, tmp_path: Path) -> Path:
    """The model without its GGUF, as in a training run."""
    folder = tmp_path / "base"
    folder.mkdir()
    for file in smollm2.iterdir():
        if file.suffix != ".gguf":
            (folder / file.name).hardlink_to(file)
    return folder


def facts_spec(server: BakehouseServer, tmp_path: Path, model: Path) -> TrainTextSpec:
    """Returns a run with the parameters of `./bakehouse tour`."""
    spec = train_spec(
        server,
        tmp_path,
        model,
        epochs=4,
        learning_rate=1e-3,
        batch_size=8,
        lora={"r": 16, "alpha": 32.0, "target_modules": LINEAR},
    )
    facts = server.add_input(EXAMPLES / "bakehouse-facts.csv", "facts.csv")
    changes = {
        "file_path": "facts.csv",
        "input_column": "question",
        "output_column": "answer",
        "train_test_split": 0.95,
    }
    whole = json.loads(spec.model_dump_json())
    whole["data"] |= changes
    whole["inputs"][1]["files"] = [facts]
    return TrainTextSpec.model_validate(whole)


def test_learns_the_facts_and_serves_them_like_peft(
    server: BakehouseServer, tmp_path: Path, smollm2: Path
) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = training_folder(smollm2, tmp_path)
    assert finish(start(facts_spec(server, tmp_path, model)), timeout_s=3600) == 0
    summary = server.reports[-1]["summary"]
    assert summary["eval_loss"] < 0.2 * summary["eval_loss_base"]

    server.reports.clear()
    inputs = [
        {"name": "base_model", "files": [server.add_input(smollm2 / GGUF_NAME, "tiny.gguf")]},
        {
            "name": "a1",
            "files": [server.add_input(server.artefacts / "adapter.gguf", "adapter.gguf")],
        },
    ]
    (tmp_path / "serve").mkdir()
    serving = Serving(server, tmp_path / "serve", serve_spec(server, tmp_path / "serve", inputs))
    tokenizer: Any = AutoTokenizer.from_pretrained(model)
    base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    tuned = PeftModel.from_pretrained(base, server.artefacts)
    right = base_right = 0
    lines = (EXAMPLES / "bakehouse-questions.jsonl").read_text().splitlines()
    for entry in map(json.loads, lines):
        messages = [{"role": "user", "content": entry["question"]}]
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
        served = compare(serving, tuned, prompt, scale=1.0, tokens=40)
        assert served.is_same, served
        assert served.compared > 0, served
        answers = [chat(serving, messages, scale) for scale in (1.0, 0.0)]
        right += answers[0] == entry["answer"]
        base_right += answers[1] == entry["answer"]
    serving.process.terminate()
    assert serving.process.wait(60) == 0
    assert len(lines) == 20
    assert right >= 15
    assert base_right == 0


def test_a_full_fine_tune_learns_the_facts_and_serves_them(
    server: BakehouseServer, tmp_path: Path, smollm2: Path
) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = training_folder(smollm2, tmp_path)
    spec = facts_spec(server, tmp_path, model).model_dump(mode="json")
    spec["parameters"] |= {"lora": None, "learning_rate": 1e-4}
    gguf = server.add_input(smollm2 / GGUF_NAME, "gguf/base.gguf")
    spec["inputs"].append({"name": "base_gguf", "files": [gguf]})
    assert finish(start(TrainTextSpec.model_validate(spec)), timeout_s=3600) == 0
    summary = server.reports[-1]["summary"]
    assert summary["eval_loss"] < 0.2 * summary["eval_loss_base"]

    server.reports.clear()
    made = server.add_input(server.artefacts / "model-F16.gguf", "tiny.gguf")
    (tmp_path / "serve").mkdir()
    inputs = [{"name": "base_model", "files": [made]}]
    told = serve_spec(server, tmp_path / "serve", inputs) | {"adapters": []}
    serving = Serving(server, tmp_path / "serve", told)
    tokenizer: Any = AutoTokenizer.from_pretrained(server.artefacts)
    tuned, base = (
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        for folder in (server.artefacts, model)
    )

    def answer(of: Any, prompt: list[int]) -> str:
        asked = torch.tensor([prompt])
        with torch.inference_mode():
            written = of.generate(input_ids=asked, max_new_tokens=40, do_sample=False)
        text = tokenizer.decode(written[0, len(prompt) :], skip_special_tokens=True)
        return str(text).strip()

    right = base_right = 0
    lines = (EXAMPLES / "bakehouse-questions.jsonl").read_text().splitlines()
    for entry in map(json.loads, lines):
        messages = [{"role": "user", "content": entry["question"]}]
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]
        served = chat(serving, messages)
        assert served == answer(tuned, prompt)
        right += served == entry["answer"]
        base_right += answer(base, prompt) == entry["answer"]
    serving.process.terminate()
    assert serving.process.wait(60) == 0
    assert len(lines) == 20
    assert right >= 15
    assert base_right == 0


def chat(serving: Serving, messages: list[dict[str, str]], scale: float | None = None) -> str:
    answer = AUTHORIZED_CLIENT.post(
        f"{serving.url}/v1/chat/completions",
        json={
            "messages": messages,
            "temperature": 0,
            "max_tokens": 40,
            **({} if scale is None else {"lora": [{"id": 0, "scale": scale}]}),
        },
        timeout=300,
    )
    return str(answer.json()["choices"][0]["message"]["content"]).strip()


def test_learns_to_call_functions_in_the_format_of_clients(
    server: BakehouseServer, tmp_path: Path, smollm2: Path
) -> None:
    rows = (EXAMPLES / "bakehouse-tools.jsonl").read_text()
    model = training_folder(smollm2, tmp_path)
    spec = facts_spec(server, tmp_path, model).model_dump(mode="json")
    columns = {"input_column": None, "output_column": None}
    spec["data"] |= {"file_path": "tools.jsonl", "max_chunk_size": 512, **columns}
    spec["parameters"] |= {"epochs": 3, "batch_size": 4}
    spec["inputs"][1]["files"] = [server.add_input(rows.encode(), "tools.jsonl")]
    assert finish(start(TrainTextSpec.model_validate(spec)), timeout_s=3600) == 0

    server.reports.clear()
    adapter = server.add_input(server.artefacts / "adapter.gguf", "adapter.gguf")
    inputs = [
        {"name": "base_model", "files": [server.add_input(smollm2 / GGUF_NAME, "tiny.gguf")]},
        {"name": "a1", "files": [adapter]},
    ]
    (tmp_path / "serve").mkdir()
    serving = Serving(server, tmp_path / "serve", serve_spec(server, tmp_path / "serve", inputs))
    tools = json.loads(rows.splitlines()[0])["tools"]
    # None of these is in the file.
    asked = {
        "Do you still have walnut bread?": ("check_stock", {"product": "walnut bread"}),
        "Are there any muffins left?": ("check_stock", {"product": "muffins"}),
        "How many pretzels can I get today?": ("check_stock", {"product": "pretzels"}),
        "Where is order B7731?": ("find_order", {"number": "B7731"}),
        "Has my order B2950 left yet?": ("find_order", {"number": "B2950"}),
    }
    called = {
        scale: sum(
            first_call(serving, question, tools, scale) == call for question, call in asked.items()
        )
        for scale in (1.0, 0.0)
    }
    serving.process.terminate()
    assert serving.process.wait(60) == 0
    assert called[1.0] >= 4
    assert called[0.0] == 0


def test_learns_ratings_but_not_shuffled_ones(
    server: BakehouseServer, tmp_path: Path, smollm2: Path
) -> None:
    header, *rows = (EXAMPLES / "bakehouse-feedback.csv").read_text().splitlines()
    texts, ratings = zip(*(row.rsplit(",", 1) for row in rows), strict=True)
    shuffled = list(ratings)
    Random(3).shuffle(shuffled)
    model = training_folder(smollm2, tmp_path)
    found: list[dict[str, float]] = []
    for name, labels in (("rated", ratings), ("shuffled", shuffled)):
        (tmp_path / name).mkdir()
        spec = facts_spec(server, tmp_path / name, model).model_dump(mode="json")
        data = "\n".join([header, *map(",".join, zip(texts, labels, strict=True))])
        columns = {"input_column": None, "output_column": None}
        spec["data"] |= {"file_path": f"{name}.csv", "train_test_split": 0.8, **columns}
        # As the form suggests, but for fewer epochs.
        spec["parameters"] |= {"objective": "kto", "learning_rate": 1e-4, "batch_size": 4}
        spec["parameters"] |= {"epochs": 3, "lora": spec["parameters"]["lora"] | {"r": 8}}
        spec["inputs"][1]["files"] = [server.add_input(data.encode(), f"{name}.csv")]
        assert finish(start(TrainTextSpec.model_validate(spec)), timeout_s=3600) == 0
        found.append(server.reports[-1]["summary"])
        server.reports.clear()
    rated, by_chance = found
    assert rated["eval_loss_base"] == 0.5
    assert rated["eval_loss"] < 0.48
    assert rated["eval_reward_accuracy"] >= 0.85
    assert by_chance["eval_reward_accuracy"] <= 0.7


def first_call(
    serving: Serving, question: str, tools: list[dict[str, Any]], scale: float
) -> tuple[str, Any] | None:
    """Returns the function that an answer calls, with its arguments."""
    answer = AUTHORIZED_CLIENT.post(
        f"{serving.url}/v1/chat/completions",
        json={
            "messages": [{"role": "user", "content": question}],
            "tools": tools,
            "temperature": 0,
            "max_tokens": 60,
            "lora": [{"id": 0, "scale": scale}],
        },
        timeout=300,
    )
    calls: list[dict[str, Any]] = answer.json()["choices"][0]["message"].get("tool_calls") or []
    functions = [call["function"] for call in calls]
    return next(((one["name"], json.loads(one["arguments"])) for one in functions), None)


def test_both_formats_tokenise_text_equally(
    server: BakehouseServer, tmp_path: Path, smollm2: Path
) -> None:
    """llama.cpp's tokenizer and the training tokenizer produce the same tokens."""
    from tokenizers import Tokenizer

    inputs = [{"name": "base_model", "files": [server.add_input(smollm2 / GGUF_NAME, "m.gguf")]}]
    specification = serve_spec(server, tmp_path, inputs)
    specification |= {"model_file": "m.gguf", "adapters": []}
    serving = Serving(server, tmp_path, specification)
    tokenizer = Tokenizer.from_file(str(smollm2 / "tokenizer.json"))
    with (EXAMPLES / "bakehouse-facts.csv").open() as file:
        texts = [row["answer"] for row in csv.DictReader(file)]
    texts += [
        "Call 4080, 0.001 or 3.14159 on 2026-11-20!",
        "<|im_start|>user\nnaïve  café\t\n\n  x<|im_end|>",
        "def f(x):\n    return x**2  # don't they'll I'm",
        "日本語 и русский 🙂 ½ ² Ω",
    ]
    for text in texts:
        found = AUTHORIZED_CLIENT.post(
            f"{serving.url}/tokenize", json={"content": text, "add_special": False}, timeout=60
        ).json()["tokens"]
        assert found == tokenizer.encode(text, add_special_tokens=False).ids, text
    serving.process.terminate()
    assert serving.process.wait(60) == 0
