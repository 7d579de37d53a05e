"""Interprets cells whose text is a list or a mark for a missing value."""

from __future__ import annotations

import json
import re

from .json_stream import reject_constant

# The marks that pandas reads as a missing value.
_MISSING = {
    *("NULL", "null", "NaN", "nan", "-NaN", "-nan", "None", "N/A", "n/a", "NA", "<NA>"),
    *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "NaT"),
}
# The beginning of a printed list with other items than numbers and words.
_PRINTED_LIST = re.compile(r"\s*(?:array\(\s*)?[\[(]\s*(?:array\(|[\[{(\"'\])])", re.ASCII)
# Where Python and NumPy output differs from JSON: quotes and words, tuples, arrays, items without
# commas, trailing commas. Each part of a text is tried only a few times, to avoid quadratic
# matching of unclosed quotes and runs of blanks.
_PRINTED = re.compile(
    r"(?P<text>(?<!\\)(?:'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"))"
    r"|(?P<gap>(?<=[\]}'\"\w])\s+(?=[\[{'\"\w-]))"
    r"|(?P<none>\barray\(\s*|,\s*dtype=[^()]{0,64}\)|,\s*(?=[\]})]))"
    r"|(?P<word>\b(?:None|nan|NaN|True|False)\b)"
    r"|(?P<bracket>[()])",
    re.DOTALL | re.ASCII,
)
_WRITTEN = {
    **{"None": "null", "nan": "null", "NaN": "null", "True": "true", "False": "false"},
    **{"(": "[", ")": "]"},
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\n": ""}
_CHARACTERS = 0x110000


def is_missing_mark(text: str) -> bool:
    """Returns whether pandas would read a cell as missing."""
    return text.strip() in _MISSING


def may_be_list(text: str) -> bool:
    """Returns whether a cell could be a list written as text."""
    return text.lstrip().startswith(("[", "array("))


def json_of(text: str) -> str | None:
    """Returns the list written in a cell as JSON, or None if it is no list. CSV has no lists, and
    pandas writes them as Python prints them. conversation.ts of the server shows the same lists."""
    try:
        json.loads(text, parse_constant=reject_constant)
    except RecursionError:
        return None
    except ValueError:
        is_printed = _PRINTED_LIST.match(text) and text.rstrip().endswith(("]", ")"))
        return _json_of_python(text) if is_printed else None
    return text


def _json_of_python(text: str) -> str | None:
    """Converts a list printed by Python or NumPy to JSON; None for anything else."""

    def written(match: re.Match[str]) -> str:
        match match.lastgroup:
            case "text":
                return _quoted(match[0])
            case "gap":
                return ","
            case "none":
                return ""
        return _WRITTEN[match[0]]

    result = _PRINTED.sub(written, text)
    try:
        json.loads(result, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        return None
    return result


def _quoted(text: str) -> str:
    """Converts a text printed by Python to JSON quotes and escapes."""

    def character(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        if digits is None:
            return _ESCAPES.get(match[4], match[4] if match[4] in "\\'\"" else match[0])
        code = int(digits, 16)
        return chr(code) if code < _CHARACTERS else match[0]

    return json.dumps(_ESCAPE.sub(character, text[1:-1]))


def list_of(value: object) -> list[object] | None:
    """Returns the list in a cell, or the list written in it as text, or None."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else None
    written = json_of(value) if may_be_list(value) else None
    found: object = None if written is None else json.loads(written)
    return found if isinstance(found, list) else None
