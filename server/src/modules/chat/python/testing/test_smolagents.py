"""Agents of smolagents, which call a tool in each step; the last call contains the answer."""

import os

import pytest
from loaves import MODEL, QUESTION
from smolagents import LiteLLMModel, OpenAIModel, ToolCallingAgent, tool


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool
def multiply(a: int, b: int) -> int:
    """Multiplies two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a * b


@tool
def power(a: int, b: int) -> int:
    """Raises a number to a power.

    Args:
        a: The number.
        b: The power.
    """
    return a**b


PLACE = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}
MODELS = {
    "openai": lambda: OpenAIModel(model_id=MODEL, **PLACE),
    "litellm": lambda: LiteLLMModel(model_id=f"openai/{MODEL}", **PLACE),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_agent_with_three_tools_reaches_its_answer(model, streamed):
    agent = ToolCallingAgent(
        tools=[add, multiply, power],
        model=MODELS[model](),
        stream_outputs=streamed,
        max_steps=5,
        verbosity_level=0,
    )
    result = agent.run(QUESTION, return_full_result=True)
    assert result.state == "success"
    assert result.output == "8"
    called = [
        (call["function"]["name"], call["function"]["arguments"])
        for step in result.steps
        for call in step.get("tool_calls") or []
    ]
    sides = {"a": 2, "b": 3}
    assert called == [
        ("add", sides),
        ("multiply", sides),
        ("power", sides),
        ("final_answer", {"answer": "8"}),
    ]
