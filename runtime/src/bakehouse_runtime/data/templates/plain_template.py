"""The chat template of base models that bring none: trained with and served by, word for word."""

from __future__ import annotations

# A turn a line; what the assistant says ends with the end-of-text token.
_TURNS = (
    "{% for message in messages %}"
    "{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% if not loop.last or message['role'] != 'assistant' %}{{ '\\n' }}{% endif %}"
    "{% endfor %}"
)


def plain_template(*, begins: bool) -> str:
    """The template, which begins with the begin-of-text token where the model's texts do and nobody
    else puts it there: llama.cpp does."""
    return "{{ bos_token }}" + _TURNS if begins else _TURNS
