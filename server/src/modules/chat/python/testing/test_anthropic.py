"""Anthropic's client, configured by `ANTHROPIC_BASE_URL` and `ANTHROPIC_AUTH_TOKEN`."""

import anthropic
import pytest
from loaves import FUNCTIONS, MODEL, QUESTION, RESULTS, SIDES

client = anthropic.Anthropic(max_retries=0)
TOOLS = [
    {"name": name, "description": f"Calculates: {name}", "input_schema": SIDES}
    for name in FUNCTIONS
]


def user(content):
    return {"role": "user", "content": content}


def test_messages_are_answered_streamed_and_counted():
    asked = {"model": MODEL, "messages": [user("Well?")], "system": "You bake."}
    answer = client.messages.create(max_tokens=64, **asked)
    assert answer.content[0].text == "It is 8."
    assert answer.stop_reason == "end_turn"
    assert answer.usage.output_tokens > 0
    with client.messages.stream(max_tokens=64, **asked) as stream:
        assert "".join(stream.text_stream) == "It is 8."
    assert client.messages.count_tokens(**asked).input_tokens > 0


@pytest.mark.parametrize("streamed", [False, True])
def test_agent_with_three_tools_reaches_its_answer(streamed):
    messages = [user(QUESTION)]
    results = []

    def answer(tool_choice):
        asked = {
            "model": MODEL,
            "max_tokens": 64,
            "messages": messages,
            "tools": TOOLS,
            "tool_choice": tool_choice,
        }
        if not streamed:
            return client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            return stream.get_final_message()

    for name in FUNCTIONS:
        message = answer({"type": "tool", "name": name})
        assert message.stop_reason == "tool_use"
        (call,) = [block for block in message.content if block.type == "tool_use"]
        assert call.name == name
        results.append(FUNCTIONS[name](**call.input))
        result = {"type": "tool_result", "tool_use_id": call.id, "content": str(results[-1])}
        messages += [{"role": "assistant", "content": message.content}, user([result])]
    assert results == RESULTS
    assert answer({"type": "none"}).content[0].text == "It is 8."


def test_tool_runner_calls_the_given_function():
    called = []

    @anthropic.beta_tool
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        called.append((a, b))
        return str(a + b)

    # The runner first requests a server-side thread and continues without one after the rejection.
    runner = client.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=64,
        messages=[user(QUESTION)],
        tools=[add],
        tool_choice={"type": "tool", "name": "add"},
        max_iterations=2,
    )
    assert [message.stop_reason for message in runner] == ["tool_use"] * 2
    assert called[0] == (2, 3)


def test_errors_are_raised_as_the_clients_own():
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(model="claude-9", max_tokens=64, messages=[user("Well?")])
    with pytest.raises(anthropic.BadRequestError, match="temperature"):
        client.messages.create(
            model=MODEL, max_tokens=64, messages=[user("Well?")], extra_body={"temperature": 9}
        )
