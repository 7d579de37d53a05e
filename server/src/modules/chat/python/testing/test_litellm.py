"""LiteLLM as OpenAI's and as Anthropic's client."""

import json
import os

import litellm
import pytest
from loaves import FUNCTIONS, MODEL, OPENAI_TOOLS, QUESTION, RESULTS

WAYS = {
    "openai": {"model": f"openai/{MODEL}"},
    "hosted_vllm": {
        "model": f"hosted_vllm/{MODEL}",
        "api_base": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
    },
    "anthropic": {
        "model": f"anthropic/{MODEL}",
        "api_base": os.environ["ANTHROPIC_BASE_URL"],
        "api_key": os.environ["ANTHROPIC_AUTH_TOKEN"],
        "max_tokens": 64,
    },
}


def ask(way, messages, **more):
    return litellm.completion(**WAYS[way], messages=messages, num_retries=0, **more)


@pytest.mark.parametrize("way", WAYS)
def test_chats_are_answered_and_streamed(way):
    messages = [{"role": "user", "content": "Well?"}]
    answer = ask(way, messages)
    assert answer.choices[0].message.content == "It is 8."
    assert answer.usage.total_tokens > 0
    chunks = ask(way, messages, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is 8."


@pytest.mark.parametrize("way", WAYS)
def test_agent_with_three_tools_reaches_its_answer(way):
    messages = [{"role": "user", "content": QUESTION}]
    results = []
    for name in FUNCTIONS:
        choice = {"type": "function", "function": {"name": name}}
        message = ask(way, messages, tools=OPENAI_TOOLS, tool_choice=choice).choices[0].message
        messages.append(message)
        (call,) = message.tool_calls
        assert call.function.name == name
        results.append(FUNCTIONS[name](**json.loads(call.function.arguments)))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": str(results[-1])})
    assert results == RESULTS
    last = ask(way, messages, tools=OPENAI_TOOLS, tool_choice="none")
    assert last.choices[0].message.content == "It is 8."


def test_texts_are_embedded():
    answer = litellm.embedding(model="openai/sentences", input=["bread", "dough rises"])
    assert [one["index"] for one in answer.data] == [0, 1]


def test_errors_are_raised_as_the_clients_own():
    messages = [{"role": "user", "content": "Well?"}]
    with pytest.raises(litellm.NotFoundError):
        litellm.completion(model="openai/gpt-9", messages=messages, num_retries=0)
    with pytest.raises(litellm.BadRequestError, match="temperature"):
        ask("openai", messages, temperature=9)
