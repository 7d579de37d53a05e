"""OpenAI's client, configured by `OPENAI_BASE_URL` and `OPENAI_API_KEY`."""

import asyncio
import json

import openai
import pytest
from loaves import FUNCTIONS, MODEL, OPENAI_TOOLS, QUESTION, RESULTS, SIDES
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

client = OpenAI(max_retries=0)


class Loaf(BaseModel):
    name: str
    price: int


def user(content):
    return {"role": "user", "content": content}


def test_models_are_listed():
    assert MODEL in [model.id for model in client.models.list()]
    assert client.models.retrieve(MODEL).id == MODEL


def test_chats_are_answered_and_streamed():
    answer = client.chat.completions.create(model=MODEL, messages=[user("Well?")])
    assert answer.choices[0].message.content == "It is 8."
    assert answer.usage.completion_tokens > 0
    stream = client.chat.completions.create(
        model=MODEL, messages=[user("Well?")], stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == "It is 8."
    assert chunks[-1].usage.total_tokens > 0


def test_calls_run_concurrently():
    async def ask():
        async with AsyncOpenAI(max_retries=0) as several:
            calls = [
                several.chat.completions.create(model=MODEL, messages=[user(f"{number}?")])
                for number in range(4)
            ]
            return await asyncio.gather(*calls)

    answers = asyncio.run(ask())
    assert [answer.choices[0].message.content for answer in answers] == ["It is 8."] * 4


@pytest.mark.parametrize("streamed", [False, True])
def test_agent_with_three_tools_reaches_its_answer(streamed):
    messages = [user(QUESTION)]
    results = []

    def answer(tool_choice):
        asked = {
            "model": MODEL,
            "messages": messages,
            "tools": OPENAI_TOOLS,
            "tool_choice": tool_choice,
        }
        if not streamed:
            return client.chat.completions.create(**asked).choices[0]
        with client.chat.completions.stream(**asked) as stream:
            return stream.get_final_completion().choices[0]

    for name in FUNCTIONS:
        choice = answer({"type": "function", "function": {"name": name}})
        assert choice.finish_reason == "tool_calls"
        (call,) = choice.message.tool_calls
        assert call.function.name == name
        results.append(FUNCTIONS[name](**json.loads(call.function.arguments)))
        messages.append(choice.message.to_dict())
        messages.append({"role": "tool", "tool_call_id": call.id, "content": str(results[-1])})
    assert results == RESULTS
    assert answer("none").message.content == "It is 8."


def test_agent_with_required_calls_chooses_by_the_grammar():
    messages = [user(QUESTION)]
    results = []
    while len(results) < len(FUNCTIONS):
        message = (
            client.chat.completions.create(
                model=MODEL, messages=messages, tools=OPENAI_TOOLS, tool_choice="required"
            )
            .choices[0]
            .message
        )
        messages.append(message)
        for call in message.tool_calls:
            results.append(FUNCTIONS[call.function.name](**json.loads(call.function.arguments)))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(results[-1])})
    assert results == RESULTS


def test_answers_are_parsed_by_their_schema():
    answer = client.chat.completions.parse(
        model=MODEL, messages=[user("A loaf?")], response_format=Loaf
    )
    assert answer.choices[0].message.parsed == Loaf(name="Rye", price=3)


@pytest.mark.parametrize("stored", [False, True])
def test_responses_api_calls_three_tools_and_answers(stored):
    tools = [
        {"type": "function", "name": name, "parameters": SIDES, "strict": True}
        for name in FUNCTIONS
    ]
    turns = [user(QUESTION)]
    results = []
    previous = None
    for name in FUNCTIONS:
        answer = client.responses.create(
            model=MODEL,
            input=turns,
            tools=tools,
            tool_choice={"type": "function", "name": name},
            store=stored,
            previous_response_id=previous,
        )
        (call,) = [item for item in answer.output if item.type == "function_call"]
        results.append(FUNCTIONS[call.name](**json.loads(call.arguments)))
        result = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": str(results[-1]),
        }
        turns = [result] if stored else [*turns, *answer.output, result]
        previous = answer.id if stored else None
    assert results == RESULTS
    last = client.responses.create(
        model=MODEL, input=turns, store=stored, previous_response_id=previous
    )
    assert last.output_text == "It is 8."
    if stored:
        assert client.responses.retrieve(last.id).output_text == "It is 8."
        client.responses.delete(last.id)


def test_responses_api_streams_and_parses():
    with client.responses.stream(model=MODEL, input="Well?") as stream:
        events = list(stream)
    said = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(said) == "It is 8."
    assert events[-1].type == "response.completed"
    answer = client.responses.parse(model=MODEL, input="A loaf?", text_format=Loaf)
    assert answer.output_parsed == Loaf(name="Rye", price=3)


def test_embeddings_are_in_order():
    answer = client.embeddings.create(model="sentences", input=["bread", "dough rises"])
    assert [one.index for one in answer.data] == [0, 1]
    assert len(answer.data[0].embedding) == len(answer.data[1].embedding) > 0
    assert answer.data[0].embedding != answer.data[1].embedding


def test_files_are_stored_until_deleted():
    row = (
        b'{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'
    )
    file = client.files.create(file=("rows.jsonl", row), purpose="fine-tune")
    assert client.files.content(file.id).read() == row
    assert file.id in [one.id for one in client.files.list(purpose="fine-tune")]
    assert client.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(file.id)


def test_errors_are_raised_as_the_clients_own():
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-9", messages=[user("Well?")])
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model=MODEL, messages=[user("Well?")], temperature=9)
    assert wrong.value.param == "temperature"
    with pytest.raises(openai.AuthenticationError):
        OpenAI(api_key="wrong", max_retries=0).models.list()
