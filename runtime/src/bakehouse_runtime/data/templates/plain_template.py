"""The chat template for base models without one, used identically in training and serving."""

from __future__ import annotations

# One turn per line; an assistant turn ends with the end-of-text token.
_TURNS = (
    "{% for message in messages %}"
    "{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% if not loop.last or message['role'] != 'assistant' %}{{ '\\n' }}{% endif %}"
    "{% endfor %}"
)


def plain_template(*, begins: bool) -> str:
    """Returns the template. `begins` adds the begin-of-text token, for models that need it with
    engines that do not add it; llama.cpp adds it."""
    return "{{ bos_token }}" + _TURNS if begins else _TURNS
