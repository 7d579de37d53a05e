"""Tests rows with functions, calls, results and thoughts."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.table import UnusableError
from bakehouse_runtime.data.templates.chat_template import ChatTemplate
from bakehouse_runtime.data.templates.jinja_template import UntrainableTemplateError
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.data.tools import read_tools
from bakehouse_runtime.data.turns import turn_list
from preferences import write_rows
from templates import template_of
from train_spec import data_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.data.conversations import Rendered
    from bakehouse_runtime.data.prepared import Prepared
    from bakehouse_runtime.data.turns import Turn

_TOKENS = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
_TURN_TOKENS = ["<|eot_id|>", "<|end|>", "<end_of_turn>", "<|return|>", "<|call|>", "<|user|>"]
_ASKED = {"role": "user", "content": "How warm is it in Paris and in Rome?"}
_WEATHER = {
    "name": "weather",
    "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def call(city: str, id_: str = "") -> dict[str, Any]:
    function = {"name": "weather", "arguments": json.dumps({"city": city})}
    return {"id": id_, "type": "function", "function": function}


def result(degrees: int, id_: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": json.dumps({"degrees": degrees})}


def calls(*made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made), **more}


def answer(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def read(*messages: dict[str, Any]) -> list[Turn]:
    return turn_list(list(messages), "messages", "role", "content")


def render(name: str, *messages: dict[str, Any], source: str | None = None) -> Rendered:
    template = ChatTemplate(
        template_of(name) if source is None else source, _TOKENS, date(2026, 11, 28), _TURN_TOKENS
    )
    return template.render(read(*messages), read_tools([_WEATHER], "tools"))


def prepare(path: Path, model: Path) -> Prepared:
    data = data_spec(path.name, input_column=None, output_column=None, max_chunk_size=2000)
    return prepare_examples(path, data, read_model_tokens(model), None, holds_out=False)


def learnt(rendered: Rendered) -> list[str]:
    return [rendered.text[start:end] for start, end in rendered.learnt]


# Two templates with tool support, and two without it, which get ours: one with a system turn and
# one without.
@pytest.mark.parametrize("name", ["qwen2_5", "qwen3_vl", "llama3", "gemma"])
def test_trains_on_calls_and_on_the_answer_to_their_results(name: str) -> None:
    made = calls(call("Paris", "a"), call("Rome", "b"))
    rendered = render(name, _ASKED, made, result(20, "a"), result(25, "b"), answer("20 and 25."))
    first, second = learnt(rendered)
    written = [
        f'<tool_call>\n{{"name": "weather", "arguments": {{"city": "{city}"}}}}\n</tool_call>'
        for city in ("Paris", "Rome")
    ]
    assert first.startswith("\n".join(written))
    assert second.startswith("20 and 25.")
    assert rendered.is_ended
    assert not rendered.is_rewritten
    # The function and the results do not count in the loss.
    for read_only in (json.dumps(_WEATHER), '{"degrees": 20}', '{"degrees": 25}'):
        assert read_only in rendered.text.replace(first, "").replace(second, "")


def test_trains_on_calls_as_transformers_renders_them() -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    source = template_of("qwen2_5")
    conversation = [
        {"role": "user", "content": "How warm is it in Paris?"},
        {
            "role": "assistant",
            "content": "I will look.",
            "tool_calls": [
                {
                    "type": "function",
                    "function": {"name": "weather", "arguments": {"city": "Paris"}},
                }
            ],
        },
        {"role": "tool", "name": "weather", "content": "20"},
        {"role": "assistant", "content": "20 degrees."},
    ]
    tools: list[Any] = read_tools([_WEATHER], "tools")
    (theirs,), _ = render_jinja_template([conversation], chat_template=source, tools=tools)
    ours = ChatTemplate(source, _TOKENS, date(2026, 11, 28)).render(read(*conversation), tools)
    assert ours.text == theirs


def test_rejects_a_template_that_renders_one_of_several_calls() -> None:
    made = calls(call("Paris"), call("Rome"))
    rendered = render("gptoss", _ASKED, made, result(20), result(25), answer("20 and 25."))
    assert learnt(rendered) == ["<|channel|>final<|message|>20 and 25.<|return|>"]
    with pytest.raises(UntrainableTemplateError, match="leaves out a call"):
        render("gptoss", _ASKED, made)


@pytest.mark.parametrize("name", ["qwen3", "qwen3_8", "glm4moe"])
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_trains_on_thoughts_if_the_template_renders_them(name: str, field: str) -> None:
    made = calls(call("Paris"), **{field: "I do not know."})
    rendered = render(name, _ASKED, made, result(20), answer("20.", **{field: "That is it."}))
    first, second = learnt(rendered)
    assert first.index("I do not know.") < first.index("weather")
    assert second.index("That is it.") < second.index("20.")


def test_excludes_an_answer_whose_thoughts_are_not_rendered() -> None:
    thoughtful = answer("20.", reasoning_content="It was 20 yesterday.")
    with pytest.raises(UntrainableTemplateError, match="between <think> and </think>"):
        render("qwen2_5", _ASKED, thoughtful)
    # An earlier answer is excluded from the loss, also if the template marks generated text.
    for name in ("qwen2_5", "qwen2_5_training"):
        rendered = render(name, _ASKED, thoughtful, _ASKED, answer("Still 20."))
        assert [text.strip() for text in learnt(rendered)] == ["Still 20.<|im_end|>"]
        assert rendered.is_rewritten


def test_matches_results_to_the_named_call_or_the_first_open_one() -> None:
    made = calls(call("Paris", "a"), call("Rome", "b"))
    named = read(_ASKED, made, result(25, "b"), result(20, "a"))
    assert [turn.result_of for turn in named[2:]] == [named[1].calls[1], named[1].calls[0]]
    unnamed = read(_ASKED, made, result(20), result(25))
    assert [turn.result_of for turn in unnamed[2:]] == list(unnamed[1].calls)


def test_generates_call_ids_that_all_templates_accept() -> None:
    source = (
        "{% for message in messages %}{% for call in message.tool_calls or [] %}[{{ call.id }}]"
        "{{ call.function.name }}{% endfor %}{{ message.tool_call_id }}{{ message.content }}"
        "{% endfor %}{# tools #}"
    )
    made = calls(call("Paris", "call_Xyz-123456789"), call("Rome", "b"))
    messages = (_ASKED, made, result(25, "b"), result(20, "call_Xyz-123456789"), answer("Ok"))
    text = render("", *messages, source=source).text
    assert text.endswith(
        '[call00000]weather[call00001]weathercall00001{"degrees": 25}call00000{"degrees": 20}Ok'
    )


def test_reads_calls_and_results_of_public_files() -> None:
    sharegpt = [
        {"from": "human", "value": "Paris?"},
        {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Paris"}}'},
        {"from": "observation", "value": '{"degrees": 20}'},
        {"from": "gpt", "value": "20."},
    ]
    turns = turn_list(list(sharegpt), "conversations", "from", "value")
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert turns[1].said == 'weather({"city": "Paris"})'
    old = read(
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}},
        {"role": "function", "name": "weather", "content": "20"},
    )
    assert old[2].result_of == old[1].calls[0]
    # If calls are written in the text, their results are written in the text too.
    hermes = read(
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": '<tool_call>\n{"name": "weather"}\n</tool_call>'},
        {"role": "tool", "content": "<tool_response>\n20\n</tool_response>"},
    )
    assert [turn.role for turn in hermes] == ["user", "assistant", "user"]
    assert hermes[1].calls == ()


@pytest.mark.parametrize(
    "written",
    [
        [_WEATHER],
        _WEATHER,
        json.dumps([_WEATHER]),
        json.dumps(_WEATHER),
        [json.dumps(_WEATHER)],
        [{"type": "function", "function": {**_WEATHER, "strict": None}}],
        str([_WEATHER]),
    ],
)
def test_reads_functions_in_all_formats(written: Any) -> None:
    assert read_tools(written, "tools") == [{"type": "function", "function": _WEATHER}]


def test_trains_on_and_shows_rows_with_tools(tmp_path: Path, tiny_model: Path) -> None:
    messages = [_ASKED, calls(call("Paris")), result(20), answer("20.")]
    rows = [
        {"messages": messages, "tools": [_WEATHER]},
        {"messages": messages[:2], "tools": "none at all"},
        {"messages": [_ASKED, answer("I cannot know.")], "tools": None},
    ]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tiny_model)
    assert [(row.line, row.reason) for row in prepared.dropped.first] == [
        (2, "column tools is not JSON")
    ]
    said = [[(turn.role, turn.said) for turn, _ in one.turns] for one in prepared.samples]
    assert said[0] == [
        ("user", _ASKED["content"]),
        ("assistant", 'weather({"city": "Paris"})'),
        ("tool", '{"degrees": 20}'),
        ("assistant", "20."),
    ]
    assert prepared.warnings == []
    tokens = read_model_tokens(tiny_model).tokenizer
    (first, second) = (
        [tokens.decode(prepared.train.example(at)[part(at)].tolist()) for at in range(2)]
        for part in (
            prepared.train.learnt_of,
            lambda at: ~prepared.train.learnt_of(at),
        )
    )
    assert ['"name": "weather"' in text for text in first] == [True, False]
    assert ["<tools>" in text for text in first + second] == [False, False, True, False]


def test_ignores_a_column_of_other_tools(tmp_path: Path, tiny_model: Path) -> None:
    rows = [{"question": f"How {at}?", "answer": "So.", "tools": "a hammer"} for at in range(3)]
    path = write_rows(tmp_path / "x.jsonl", rows)
    prepared = prepare(path, tiny_model)
    assert prepared.dropped.count == 0
    assert "Column tools is not used: they belong to conversations." in prepared.warnings


def test_reads_calls_in_the_text_when_their_results_are_turns() -> None:
    written = "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome'}}\n</tool_call>"
    turns = read(
        _ASKED, answer(f"I ask.\n{written}\n{written}"), result(20), result(21), answer("20.")
    )
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "tool", "assistant"]
    assert turns[1].content == "I ask."
    assert [call.arguments for call in turns[1].calls] == [{"city": "Rome"}] * 2
    with pytest.raises(UnusableError, match="has a <tool_call> that is not JSON"):
        read(_ASKED, answer("<tool_call>weather</tool_call>"), result(20), answer("20."))
