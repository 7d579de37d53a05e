"""LangChain with `langchain-openai`, configured by `OPENAI_BASE_URL` and `OPENAI_API_KEY`."""

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from loaves import FUNCTIONS, MODEL, QUESTION, RESULTS
from pydantic import BaseModel


class Loaf(BaseModel):
    """A loaf of bread."""

    name: str
    price: int


class Sides(BaseModel):
    a: int
    b: int


def chat(**more):
    return ChatOpenAI(model=MODEL, max_retries=0, **more)


def test_invokes_streams_and_batches():
    assert chat().invoke("Well?").content == "It is 8."
    assert "".join(chunk.content for chunk in chat().stream("Well?")) == "It is 8."
    assert [answer.content for answer in chat().batch(["a", "b"])] == ["It is 8."] * 2


@pytest.mark.parametrize("responses", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
def test_agent_with_three_tools_reaches_its_answer(streamed, responses):
    tools = {
        name: StructuredTool.from_function(
            function, name=name, description=f"Calculates: {name}", args_schema=Sides
        )
        for name, function in FUNCTIONS.items()
    }
    messages = [HumanMessage(QUESTION)]
    results = []

    def answer(choice):
        asked = chat(use_responses_api=responses).bind_tools(
            list(tools.values()), tool_choice=choice
        )
        if not streamed:
            return asked.invoke(messages)
        whole, *chunks = asked.stream(messages)
        for chunk in chunks:
            whole += chunk
        return whole

    for name in FUNCTIONS:
        message = answer(name)
        messages.append(message)
        (call,) = message.tool_calls
        assert call["name"] == name
        results.append(tools[name].invoke(call["args"]))
        messages.append(ToolMessage(str(results[-1]), tool_call_id=call["id"]))
    assert results == RESULTS
    assert answer("none").text == "It is 8."


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_answers_are_structured(method):
    asked = chat().with_structured_output(Loaf, method=method)
    assert asked.invoke("A loaf as JSON?") == Loaf(name="Rye", price=3)


def test_texts_are_embedded():
    model = OpenAIEmbeddings(model="sentences", check_embedding_ctx_length=False)
    short, long = model.embed_documents(["bread", "dough rises"])
    assert len(short) == len(long) > 0
    assert model.embed_query("bread") == pytest.approx(short)
