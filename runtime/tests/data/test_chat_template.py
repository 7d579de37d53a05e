"""Compares the spans that count in the loss with TRL's and Transformers' spans."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bakehouse_runtime.data.conversations import Rendered
from bakehouse_runtime.data.templates.chat_template import ChatTemplate
from bakehouse_runtime.data.templates.jinja_template import UntrainableTemplateError
from bakehouse_runtime.data.turns import Turn
from bakehouse_runtime.errors import PlainError
from tiny_model import write_tiny_model

TOKENS = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
SYSTEM = Turn("system", "You are the baker.")
FIRST = [Turn("user", "Who bakes the bread?"), Turn("assistant", "Ada bakes it.")]
SECOND = [Turn("user", "  And the cat?  "), Turn("assistant", "It is called Crumpet.\n")]


def template_of(name: str) -> str:
    """Returns a real template that TRL ships."""
    import trl

    return (Path(str(trl.__file__)).parent / "chat_templates" / f"{name}.jinja").read_text()


# Special tokens without a name in templates.
TURN_TOKENS = ["<|eot_id|>", "<|end|>", "<end_of_turn>", "<|user|>", "<|return|>"]
THOUGHT = [FIRST[0], Turn("assistant", "<think>\nWho?\n</think>\n\nAda bakes it.")]


def rendered_of(source: str, turns: list[Turn]) -> Rendered:
    return ChatTemplate(source, TOKENS, date(2026, 11, 20), TURN_TOKENS).render(turns)


def render(source: str, turns: list[Turn]) -> tuple[str, list[str]]:
    rendered = rendered_of(source, turns)
    return rendered.text, [rendered.text[start:end] for start, end in rendered.learnt]


def messages(turns: list[Turn]) -> list[dict[str, str]]:
    return [turn._asdict() for turn in turns]


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model)


# Templates that render earlier turns unchanged when more turns follow.
MULTI_TURN = [
    ("qwen2_5", "{}<|im_end|>\n"),
    ("qwen3_instruct_2507", "{}<|im_end|>\n"),
    ("llama3", "{}<|eot_id|>"),
    ("phi3", "{}<|end|>\n"),
    ("gemma", "{}<end_of_turn>\n"),
    ("gemma3", "{}<end_of_turn>\n"),
    # They write the end-of-turn token only once another turn follows.
    ("gptoss", "<|channel|>final<|message|>{}<|end|>"),
    ("glm4moe", "\n<think></think>\n{}<|user|>"),
]


@pytest.mark.parametrize(("name", "turn"), MULTI_TURN)
def test_trains_on_every_answer_with_its_end_of_turn_only(name: str, turn: str) -> None:
    _, learnt = render(template_of(name), [*FIRST, *SECOND, *FIRST])
    contents = [one.content for one in (FIRST[1], SECOND[1], FIRST[1])]
    assert len(learnt) == 3
    for found, content in zip(learnt[:2], contents, strict=False):
        # Some templates strip whitespace.
        assert found in {turn.format(content), turn.format(content.strip())}


@pytest.mark.parametrize(
    ("name", "is_ended"), [("gptoss", True), ("phi3", True), ("glm4moe", False)]
)
def test_reports_an_answer_without_an_end_token(name: str, is_ended: bool) -> None:
    assert rendered_of(template_of(name), [*FIRST, *SECOND]).is_ended == is_ended


# gpt-oss writes the date.
@pytest.mark.parametrize("name", [name for name, _ in MULTI_TURN if name != "gptoss"])
def test_trains_on_one_answer_like_trls_completion_only_loss(tokenizer: Any, name: str) -> None:
    source = template_of(name)
    write = lambda turns, begin: tokenizer.apply_chat_template(  # noqa: E731
        messages(turns), chat_template=source, tokenize=False, add_generation_prompt=begin
    )
    prompt, whole = write(FIRST[:1], True), write(FIRST, False)
    assert render(source, FIRST) == (whole, [whole.removeprefix(prompt)])


TRAINING = ["qwen2_5_training", "qwen3_training", "llama3_training", "phi3_training"]


@pytest.mark.parametrize("name", TRAINING)
@pytest.mark.parametrize("turns", [[SYSTEM, *FIRST, *SECOND], FIRST], ids=["turns", "pair"])
def test_trains_on_generation_blocks_like_trls_assistant_only_loss(
    tokenizer: Any, name: str, turns: list[Turn]
) -> None:
    source = template_of(name)
    expected = tokenizer.apply_chat_template(
        messages(turns), chat_template=source, return_dict=True, return_assistant_tokens_mask=True
    )
    rendered = ChatTemplate(source, TOKENS, date(2026, 11, 20)).render(turns)
    encoding = tokenizer(rendered.text, add_special_tokens=False, return_offsets_mapping=True)
    assert encoding.input_ids == expected["input_ids"]
    learnt = [
        int(any(start <= first and last <= end for start, end in rendered.learnt))
        for first, last in encoding.offset_mapping
    ]
    assert learnt == expected["assistant_masks"]


@pytest.mark.parametrize("name", ["qwen2_5", "llama3", "qwen2_5_training", "llama3_training"])
def test_renders_answers_that_are_excluded_from_the_loss(name: str) -> None:
    source = template_of(name)
    whole, learnt = render(source, [*FIRST, *SECOND])
    read_only = [FIRST[0], FIRST[1]._replace(is_learnt=False), *SECOND]
    assert render(source, read_only) == (whole, learnt[1:])
    assert not rendered_of(source, read_only).is_rewritten


def test_rejects_ambiguous_generation_blocks_with_an_excluded_answer() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% generation %}{{ m.content }}{% endgeneration %}"
        "{% generation %}<|im_end|>{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    )
    assert len(render(source, [*FIRST, *SECOND])[1]) == 4
    with pytest.raises(UntrainableTemplateError, match="marks other parts than whole answers"):
        render(source, [FIRST[0], FIRST[1]._replace(is_learnt=False), *SECOND])


@pytest.mark.parametrize("name", ["qwen2_5", "llama3", "gemma3"])
def test_excludes_the_system_prompt_from_the_loss(name: str) -> None:
    text, learnt = render(template_of(name), [SYSTEM, *FIRST])
    assert SYSTEM.content in text
    assert "baker" not in learnt[0]
    assert learnt[0].startswith(FIRST[1].content)


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("qwen3", "<think>\n\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("qwen3_6", "\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("qwen3_5_nothink", "Ada bakes it.<|im_end|>\n"),
    ],
)
def test_excludes_rewritten_earlier_answers_and_trains_on_the_last(name: str, last: str) -> None:
    # They omit an answer's thoughts once a question follows.
    alone = rendered_of(template_of(name), FIRST)
    assert not alone.is_rewritten
    several = rendered_of(template_of(name), [*SECOND, *THOUGHT, *FIRST])
    assert several.is_rewritten
    for rendered in (alone, several):
        assert [rendered.text[start:end] for start, end in rendered.learnt] == [last]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("qwen3", "<think>\nWho?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        # The prompt opens the thoughts.
        ("qwen3_5_think", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("qwen3_6", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("nemotron_3_nano", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        # It writes thoughts with different spacing.
        ("glm4moe", "\n<think>Who?</think>\nAda bakes it."),
    ],
)
def test_trains_on_thoughts_after_the_prompt(name: str, answer: str) -> None:
    assert render(template_of(name), THOUGHT)[1] == [answer]


@pytest.mark.parametrize("name", ["deepseek_r1_distill", "deepseekv3", "nemotron_3_nano"])
def test_rejects_an_answer_whose_generation_prompt_differs(name: str) -> None:
    with pytest.raises(UntrainableTemplateError, match="would never be asked like this"):
        render(template_of(name), FIRST)


def test_rejects_a_conversation_with_the_templates_own_error() -> None:
    with pytest.raises(UntrainableTemplateError, match=r"refuses it: .*[Ss]ystem role"):
        render(template_of("gemma"), [SYSTEM, *FIRST])
    with pytest.raises(UntrainableTemplateError, match="refuses it: "):
        render(template_of("gemma"), [*FIRST, FIRST[1]])
    with pytest.raises(UntrainableTemplateError, match="refuses it: "):
        render("{{ messages[7].content }}", FIRST)
    with pytest.raises(UntrainableTemplateError, match="changes the turns"):
        render("{% for m in messages %}{{ m.content | upper }}{% endfor %}", FIRST)


def test_rejects_an_invalid_template() -> None:
    with pytest.raises(PlainError, match="chat template cannot be read"):
        ChatTemplate("{% for %}", TOKENS, date(2026, 11, 20))


def test_stores_the_training_template_for_a_base_without_one(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from bakehouse_runtime.data.tokens import read_model_tokens
    from bakehouse_runtime.train.model_files import copy_tokenizer

    base = write_tiny_model(tmp_path / "base", tied=True, template=None, begins=True)
    (tmp_path / "out").mkdir()
    copy_tokenizer(base, tmp_path / "out")
    turns = [*FIRST, *SECOND]
    loaded = AutoTokenizer.from_pretrained(tmp_path / "out")
    trained = read_model_tokens(base).conversation(turns)
    assert loaded.apply_chat_template(messages(turns), tokenize=False) == trained.text
    assert trained.text.startswith("<|im_start|>Who bakes the bread?\nAda bakes it.<|im_end|>\n")
    assert [trained.text[start:end] for start, end in trained.learnt] == [
        "Ada bakes it.<|im_end|>",
        "It is called Crumpet.\n<|im_end|>",
    ]
