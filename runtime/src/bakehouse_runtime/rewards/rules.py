"""The reward rules that GRPO learns from. None of them runs user code.

jsonschema-rs matches both patterns and JSON Schemas with Rust's regular expressions, whose time is
linear in the text for any pattern. Their syntax is the one of JSON Schema (ECMA 262) without
look-around and back-references.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..protocol import Reward, StringCheckReward

# Numbers as models and GSM8K write them, with thousands separators.
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
_KINDS = {
    "pattern": "pattern",
    "match": "match",
    "string_check": "text check",
    "json_schema": "JSON Schema",
}


class RewardError(PlainError):
    """An invalid reward."""


class Rule(NamedTuple):
    """A compiled reward."""

    # Its name in curves: the kind, with a number if there are several of the kind.
    name: str
    # Returns whether an answer to a row with this reference is rewarded.
    pays: Callable[[str, str | None], bool]


def build_rules(rewards: Sequence[Reward], *, has_references: bool) -> list[Rule]:
    """Returns the compiled rewards. Raises RewardError with the first fault."""
    faults = find_reward_faults(rewards, has_references=has_references)
    if faults:
        raise RewardError(faults[0])
    kinds = [reward.type for reward in rewards]
    return [
        Rule(
            f"{kind}_{kinds[: at + 1].count(kind)}" if kinds.count(kind) > 1 else kind,
            _rule(reward),
        )
        for at, (kind, reward) in enumerate(zip(kinds, rewards, strict=True))
    ]


def find_reward_faults(rewards: Sequence[Reward], *, has_references: bool) -> list[str]:
    """Returns the faults of each reward by its number, or that no reward can pay."""
    if not rewards:
        return ["GRPO learns from rewards: add one."]
    faults = [
        f"Reward {at} ({_KINDS[reward.type]}): {fault}"
        for at, reward in enumerate(rewards, 1)
        for fault in _faults(reward, has_references)
    ]
    if not faults and not any(reward.weight for reward in rewards):
        return ["All rewards weigh 0: give one of them another weight."]
    return faults


def _compares_with_row(reward: Reward) -> bool:
    """Returns whether the reward needs the reference of the row."""
    return reward.type == "match" or (reward.type == "string_check" and reward.reference is None)


def _faults(reward: Reward, has_references: bool) -> Iterator[str]:
    if _compares_with_row(reward) and not has_references:
        yield "there is nothing to compare answers with: choose the column with the reference."
    try:
        _rule(reward)
    except RewardError as error:
        yield str(error)


def _rule(reward: Reward) -> Callable[[str, str | None], bool]:
    match reward.type:
        case "pattern":
            pattern = _validator({"type": "string", "pattern": reward.pattern}, _NO_PATTERN)
            return lambda answer, _: bool(pattern.is_valid(answer))
        case "match":
            return _same_number if reward.compare == "last_number" else _same_text
        case "string_check":
            return _string_check(reward)
        case "json_schema":
            return _json_rule(reward.json_schema)


_NO_PATTERN = (
    "it is no regular expression, or one that cannot be matched in linear time: close what it "
    "opens, and leave out look-around, back-references and repetitions of many thousands."
)


def _string_check(check: StringCheckReward) -> Callable[[str, str | None], bool]:
    def pays(answer: str, reference: str | None) -> bool:
        compared = (check.reference if check.reference is not None else reference or "").strip()
        if not compared:
            return False
        match check.operation:
            case "eq":
                return answer == compared
            case "ne":
                return answer != compared
            case "like":
                return compared in answer
            case "ilike":
                return compared.casefold() in answer.casefold()

    return pays


def _json_rule(text: str) -> Callable[[str, str | None], bool]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RewardError("the schema is no JSON.") from error
    if not isinstance(schema, dict):
        raise RewardError("the schema must be an object.")
    validator = _validator(schema, None)

    def pays(answer: str, _: str | None) -> bool:
        try:
            return bool(validator.is_valid(json.loads(answer, parse_constant=_reject_constant)))
        # Not JSON, or nested too deeply.
        except (ValueError, RecursionError):
            return False

    return pays


def _validator(schema: dict[str, Any], said: str | None) -> Any:
    """Compiles a schema. Raises RewardError with the message `said`, or with the library's
    reason."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=jsonschema_rs.RegexOptions(), retriever=_retrieve
        )
    except (ValueError, jsonschema_rs.ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise RewardError(said or f"the schema cannot be used: {reason}.") from error


def _retrieve(uri: str) -> NoReturn:
    # By default the library would read files and the network.
    raise ValueError(f"{uri} is not part of the schema")


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


def _same_text(answer: str, reference: str | None) -> bool:
    return reference is not None and answer.split() == reference.split()


def _same_number(answer: str, reference: str | None) -> bool:
    paid = _last_number(reference or "")
    return paid is not None and _last_number(answer) == paid


def _last_number(text: str) -> Decimal | None:
    found = _NUMBER.findall(text)
    return Decimal(found[-1].replace(",", "")) if found else None
