"""Writes a Modelfile, with which Ollama serves a GGUF as Bakehouse does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..confined import run_confined
from ..data.templates.jinja_template import UntrainableTemplateError
from ..data.tokens import read_model_tokens
from ..serve.sampling_defaults import default_sampling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Message = dict[str, str]

_OLLAMA_NAMES = {"repetition_penalty": "repeat_penalty"}
# Placeholder words, which no template contains.
_SYSTEM, _FIRST, _ANSWER, _SECOND = "Sys0tem", "Ques1tion", "Ans2wer", "Ques3tion"


@dataclass(frozen=True)
class _Pieces:
    """The text that a chat template writes around the turns of a conversation."""

    begin: str
    # Used without a system prompt, because a template may have a default one.
    begin_plain: str
    after_system: str
    before_user: str
    # Between the user's text and the start of the answer.
    before_answer: str
    after_answer: str

    def written(self, messages: list[Message]) -> str:
        """Renders a conversation as the Go template below does."""
        around = {
            "system": (self.begin, self.after_system),
            "user": (self.before_user, self.before_answer),
            "assistant": ("", self.after_answer),
        }
        plain = "" if messages[0]["role"] == "system" else self.begin_plain
        return plain + "".join(
            f"{around[one['role']][0]}{one['content']}{around[one['role']][1]}" for one in messages
        )

    def go_template(self) -> str:
        return (
            f"{{{{ if not .System }}}}{self.begin_plain}{{{{ end }}}}"
            "{{ range .Messages }}"
            f'{{{{ if eq .Role "system" }}}}{self.begin}{{{{ .Content }}}}{self.after_system}'
            f'{{{{ else if eq .Role "user" }}}}{self.before_user}{{{{ .Content }}}}'
            f'{self.before_answer}{{{{ else if eq .Role "assistant" }}}}{{{{ .Content }}}}'
            f"{self.after_answer}{{{{ end }}}}{{{{ end }}}}"
        )


def modelfile(gguf_name: str, base: Path, fine_tune: Path) -> str:
    """Returns the Modelfile for a GGUF in the same folder. It has no TEMPLATE if the chat template
    does more than write turns one after another; Ollama then picks one from the GGUF's own
    template."""
    template, stop = run_confined("the chat template", read_template, fine_tune)
    lines = [f"FROM ./{gguf_name}"]
    if template is not None:
        lines.append(f'TEMPLATE """{template}"""')
    for name, value in default_sampling(base).items():
        lines.append(f"PARAMETER {_OLLAMA_NAMES.get(name, name)} {value:g}")
    if stop and '"' not in stop and "\n" not in stop:
        lines.append(f'PARAMETER stop "{stop}"')
    return "\n".join([*lines, ""])


def read_template(folder: Path) -> tuple[str | None, str]:
    """Returns the chat template of a model as a Go template, if possible, and the token that ends
    an answer. A template is a program: call this in a process with limits."""
    tokens = read_model_tokens(folder)
    stop = tokens.special_tokens.get("eos_token", "")
    begin = tokens.special_tokens.get("bos_token", "") if tokens.text_prefix else ""
    return go_template(tokens.prompt, begin, stop), stop


def go_template(
    prompt: Callable[[list[Message]], str], begin_token: str = "", end_token: str = ""
) -> str | None:
    """Returns a Go template that renders as `prompt` does, or None if simple pieces cannot express
    it. The server adds `begin_token` to every text; `end_token` ends a turn."""
    try:
        pieces = _pieces(prompt, end_token)
        if pieces is None or any(
            pieces.written(messages) != prompt(messages) for messages in _conversations()
        ):
            return None
    except UntrainableTemplateError:
        return None
    begins = {
        name: getattr(pieces, name).removeprefix(begin_token) for name in ("begin", "begin_plain")
    }
    written = _Pieces(**{**vars(pieces), **begins})
    if any("{{" in piece or '"""' in piece for piece in vars(written).values()):
        return None
    return written.go_template()


def _pieces(prompt: Callable[[list[Message]], str], end_token: str) -> _Pieces | None:
    whole = _between(prompt(_turns(_SYSTEM, _FIRST, _ANSWER, _SECOND)))
    plain = _between(prompt(_turns(None, _FIRST)), (_FIRST,))
    if whole is None or plain is None:
        return None
    begin, to_user, to_answer, to_next, _ = whole
    before_user = _shared_end(to_user, to_next, plain[0])
    # All turns may end with the same token, which then belongs to the previous turn.
    if end_token and end_token in before_user:
        before_user = before_user.rpartition(end_token)[2].lstrip("\n")
    cut = len(before_user)
    return _Pieces(
        begin=begin,
        begin_plain=plain[0][: len(plain[0]) - cut],
        after_system=to_user[: len(to_user) - cut],
        before_user=before_user,
        before_answer=to_answer,
        after_answer=to_next[: len(to_next) - cut],
    )


def _shared_end(*texts: str) -> str:
    first = texts[0]
    starts = range(len(first) + 1)
    return next(first[at:] for at in starts if all(text.endswith(first[at:]) for text in texts))


def _between(
    text: str, words: tuple[str, ...] = (_SYSTEM, _FIRST, _ANSWER, _SECOND)
) -> list[str] | None:
    """Returns the texts before, between and after the words, or None unless each occurs exactly
    once."""
    found = []
    for word in words:
        before, found_word, text = text.partition(word)
        if not found_word or word in text:
            return None
        found.append(before)
    return [*found, text]


def _conversations() -> list[list[Message]]:
    return [
        _turns(None, _FIRST),
        _turns(_SYSTEM, _FIRST),
        _turns(None, _FIRST, _ANSWER, _SECOND),
        _turns(_SYSTEM, _FIRST, _ANSWER, _SECOND, _ANSWER, _FIRST),
    ]


def _turns(system: str | None, *said: str) -> list[Message]:
    first = [] if system is None else [{"role": "system", "content": system}]
    return first + [
        {"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(said)
    ]
