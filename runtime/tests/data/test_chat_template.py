"""What is learnt of a conversation, beside what TRL and Transformers make of the same one."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bakehouse_runtime.data.conversations import Rendered
from bakehouse_runtime.data.templates.chat_template import ChatTemplate
from bakehouse_runtime.data.templates.jinja_template import TemplateRefusalError
from bakehouse_runtime.data.turns import Turn
from bakehouse_runtime.errors import PlainError
from tiny_model import write_tiny_model

TOKENS = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
SYSTEM = Turn("system", "You are the baker.")
FIRST = [Turn("user", "Who bakes the bread?"), Turn("assistant", "Ada bakes it.")]
SECOND = [Turn("user", "  And the cat?  "), Turn("assistant", "It is called Crumpet.\n")]


def template_of(name: str) -> str:
    """A real template, as TRL brings it along."""
    import trl

    return (Path(str(trl.__file__)).parent / "chat_templates" / f"{name}.jinja").read_text()


# Special tokens that tokenizers have without a name in templates.
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


# Whole conversations that a template writes without a change once more turns follow.
MULTI_TURN = [
    ("qwen2_5", "{}<|im_end|>\n"),
    ("qwen3_instruct_2507", "{}<|im_end|>\n"),
    ("llama3", "{}<|eot_id|>"),
    ("phi3", "{}<|end|>\n"),
    ("gemma", "{}<end_of_turn>\n"),
    ("gemma3", "{}<end_of_turn>\n"),
    # What ends a turn is written only once another follows.
    ("gptoss", "<|channel|>final<|message|>{}<|end|>"),
    ("glm4moe", "\n<think></think>\n{}<|user|>"),
]


@pytest.mark.parametrize(("name", "turn"), MULTI_TURN)
def test_every_answer_is_learnt_with_its_end_of_turn_and_nothing_else(name: str, turn: str) -> None:
    _, learnt = render(template_of(name), [*FIRST, *SECOND, *FIRST])
    contents = [one.content for one in (FIRST[1], SECOND[1], FIRST[1])]
    assert len(learnt) == 3
    for found, content in zip(learnt[:2], contents, strict=False):
        # Some templates trim.
        assert found in {turn.format(content), turn.format(content.strip())}


@pytest.mark.parametrize(
    ("name", "is_ended"), [("gptoss", True), ("phi3", True), ("glm4moe", False)]
)
def test_an_answer_that_no_special_token_ends_is_noted(name: str, is_ended: bool) -> None:
    assert rendered_of(template_of(name), [*FIRST, *SECOND]).is_ended == is_ended


# That of gpt-oss writes the day.
@pytest.mark.parametrize("name", [name for name, _ in MULTI_TURN if name != "gptoss"])
def test_one_answer_is_learnt_as_trls_completion_only_loss_counts_it(
    tokenizer: Any, name: str
) -> None:
    source = template_of(name)
    write = lambda turns, begin: tokenizer.apply_chat_template(  # noqa: E731
        messages(turns), chat_template=source, tokenize=False, add_generation_prompt=begin
    )
    prompt, whole = write(FIRST[:1], True), write(FIRST, False)
    assert render(source, FIRST) == (whole, [whole.removeprefix(prompt)])


TRAINING = ["qwen2_5_training", "qwen3_training", "llama3_training", "phi3_training"]


@pytest.mark.parametrize("name", TRAINING)
@pytest.mark.parametrize("turns", [[SYSTEM, *FIRST, *SECOND], FIRST], ids=["turns", "pair"])
def test_what_a_template_marks_as_generated_is_learnt_as_trls_assistant_only_loss_counts_it(
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
def test_an_answer_that_is_only_read_stays_in_the_text(name: str) -> None:
    source = template_of(name)
    whole, learnt = render(source, [*FIRST, *SECOND])
    read_only = [FIRST[0], FIRST[1]._replace(is_learnt=False), *SECOND]
    assert render(source, read_only) == (whole, learnt[1:])
    assert not rendered_of(source, read_only).is_rewritten


def test_parts_of_answers_are_not_guessed_at_where_one_is_only_read() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}"
        "{% generation %}{{ m.content }}{% endgeneration %}"
        "{% generation %}<|im_end|>{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    )
    assert len(render(source, [*FIRST, *SECOND])[1]) == 4
    with pytest.raises(TemplateRefusalError, match="marks other parts than whole answers"):
        render(source, [FIRST[0], FIRST[1]._replace(is_learnt=False), *SECOND])


@pytest.mark.parametrize("name", ["qwen2_5", "llama3", "gemma3"])
def test_a_system_prompt_is_read_and_not_learnt(name: str) -> None:
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
def test_an_earlier_answer_that_a_template_rewrites_is_read_and_the_last_is_learnt(
    name: str, last: str
) -> None:
    # They leave the thoughts of an answer out once a question follows.
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
        # The prompt begins the thoughts.
        ("qwen3_5_think", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("qwen3_6", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        ("nemotron_3_nano", "Who?\n</think>\n\nAda bakes it.<|im_end|>\n"),
        # It writes thoughts with other spaces.
        ("glm4moe", "\n<think>Who?</think>\nAda bakes it."),
    ],
)
def test_thoughts_are_learnt_from_where_the_prompt_ends(name: str, answer: str) -> None:
    assert render(template_of(name), THOUGHT)[1] == [answer]


@pytest.mark.parametrize("name", ["deepseek_r1_distill", "deepseekv3", "nemotron_3_nano"])
def test_an_answer_is_refused_that_the_template_would_ask_for_in_other_words(name: str) -> None:
    with pytest.raises(TemplateRefusalError, match="would never be asked like this"):
        render(template_of(name), FIRST)


def test_what_a_template_does_not_take_is_refused_in_its_own_words() -> None:
    with pytest.raises(TemplateRefusalError, match=r"refuses it: .*[Ss]ystem role"):
        render(template_of("gemma"), [SYSTEM, *FIRST])
    with pytest.raises(TemplateRefusalError, match="refuses it: "):
        render(template_of("gemma"), [*FIRST, FIRST[1]])
    with pytest.raises(TemplateRefusalError, match="refuses it: "):
        render("{{ messages[7].content }}", FIRST)
    with pytest.raises(TemplateRefusalError, match="changes the turns"):
        render("{% for m in messages %}{{ m.content | upper }}{% endfor %}", FIRST)


def test_a_template_that_is_none_is_named() -> None:
    with pytest.raises(PlainError, match="chat template cannot be read"):
        ChatTemplate("{% for %}", TOKENS, date(2026, 11, 20))


def test_a_base_without_a_template_leaves_the_one_that_it_was_trained_with(tmp_path: Path) -> None:
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
