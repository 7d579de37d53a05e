"""Tests reward rules: results, errors, and that none takes long."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from bakehouse_runtime.protocol import Reward
from bakehouse_runtime.rewards.rules import RewardError, build_rules, find_reward_faults

if TYPE_CHECKING:
    from pathlib import Path


def pays(answer: str, reference: str | None = None, /, **reward: Any) -> bool:
    (rule,) = build_rules([_reward(reward)], has_references=True)
    return rule.pays(answer, reference)


def _reward(fields: dict[str, Any]) -> Any:
    return TypeAdapter(Reward).validate_python({"weight": 1.0} | fields)


def fault(**reward: Any) -> str:
    (found,) = find_reward_faults([_reward(reward)], has_references=False)
    return found


def test_finds_a_pattern_anywhere_in_the_answer() -> None:
    assert pays("Yes, of course", type="pattern", pattern="^Yes")
    assert not pays("Oh, Yes", type="pattern", pattern="^Yes")
    assert pays("OH, YES", type="pattern", pattern="(?i)yes")
    assert not pays("yes\n", type="pattern", pattern="^yes$")
    assert not pays("٣", type="pattern", pattern=r"\d")


def test_matches_every_pattern_in_linear_time() -> None:
    """Python's own regular expressions would never finish these."""
    texts = {"(a+)+$": "a" * 50_000 + "b", r"^(\w+\s?)*$": "aaaa " * 10_000 + "!"}
    for pattern, text in texts.items():
        assert not pays(text, type="pattern", pattern=pattern)
        schema = json.dumps({"type": "string", "pattern": pattern})
        assert not pays(json.dumps(text), type="json_schema", json_schema=schema)


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "((a{1000}){1000}){1000}"])
def test_rejects_invalid_and_non_linear_patterns(pattern: str) -> None:
    assert fault(type="pattern", pattern=pattern).startswith(
        "Reward 1 (pattern): it is no regular expression, or one that cannot be matched in linear"
    )


def test_a_match_compares_words_or_the_last_number() -> None:
    assert pays(" a  dark\nrye ", "a dark rye", type="match", compare="text")
    assert not pays("A dark rye", "a dark rye", type="match", compare="text")
    number: dict[str, Any] = {"type": "match", "compare": "last_number"}
    assert pays("3 + 4 makes 7.", "She has 3 + 4.\n#### 7", **number)
    assert pays("That is $1,234.50", "1234.5", **number)
    assert pays("It is -3", "-3.0", **number)
    assert not pays("7 or 8", "7", **number)
    assert not pays("seven", "7", **number)
    assert not pays("7", "seven", **number)
    assert not pays("7", None, **number)


def test_validates_the_whole_answer_as_json() -> None:
    schema = {"type": "object", "required": ["loaf"], "properties": {"loaf": {"type": "integer"}}}
    rule: dict[str, Any] = {"type": "json_schema", "json_schema": json.dumps(schema)}
    assert pays('{"loaf": 3}', **rule)
    assert not pays('{"loaf": "three"}', **rule)
    assert not pays('Here: {"loaf": 3}', **rule)
    assert not pays('{"loaf": NaN}', **rule)
    assert not pays("[" * 100_000, **rule)
    assert not pays("[" * 100_000 + "]" * 100_000, type="json_schema", json_schema="{}")
    assert not pays("9" * 10_000, **rule)


def test_a_schema_cannot_read_files(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"type": "integer"}')
    for uri in (file.as_uri(), "http://127.0.0.1:9/other.json"):
        said = fault(type="json_schema", json_schema=json.dumps({"$ref": uri}))
        assert f"{uri} is not part of the schema" in said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "the schema is no JSON"),
        ("[" * 100_000, "the schema is no JSON"),
        ("[]", "the schema must be an object"),
        ('{"type": "objekt"}', "the schema cannot be used"),
        ('{"pattern": "(?=a)"}', "the schema cannot be used"),
    ],
)
def test_rejects_an_unusable_schema(schema: str, said: str) -> None:
    assert said in fault(type="json_schema", json_schema=schema)


@pytest.mark.parametrize(
    ("operation", "paid", "unpaid"),
    [
        ("eq", ["Dark rye"], ["dark rye", "Dark  rye", "Dark rye.", "A Dark rye"]),
        ("ne", ["dark rye", "Dark rye."], ["Dark rye"]),
        ("like", ["Dark rye", "A Dark rye."], ["A dark rye", "Rye"]),
        ("ilike", ["Dark rye", "A DARK RYE."], ["Dark  rye", "Rye"]),
    ],
)
def test_text_check_compares_by_operation(
    operation: str, paid: list[str], unpaid: list[str]
) -> None:
    check: dict[str, Any] = {"type": "string_check", "operation": operation}
    for answers, is_paid in ((paid, True), (unpaid, False)):
        for answer in answers:
            assert pays(answer, "another", **check, reference="Dark rye") == is_paid
            assert pays(answer, " Dark rye\n", **check) == is_paid
    assert not pays("Dark rye", "", **check)
    assert "nothing to compare answers with" in fault(**check)
    assert not find_reward_faults([_reward(check | {"reference": "a"})], has_references=False)


def test_reports_faults_by_the_number_of_the_reward() -> None:
    rewards = [
        _reward({"type": "pattern", "pattern": "a"}),
        _reward({"type": "match", "compare": "text"}),
        _reward({"type": "pattern", "pattern": "("}),
    ]
    first, second = find_reward_faults(rewards, has_references=False)
    assert first.startswith("Reward 2 (match): there is nothing to compare answers with")
    assert second.startswith("Reward 3 (pattern)")
    with pytest.raises(RewardError, match="Reward 3"):
        build_rules(rewards, has_references=True)
    assert find_reward_faults([], has_references=True) == ["GRPO learns from rewards: add one."]
    idle = [_reward({"type": "pattern", "pattern": "a", "weight": 0.0})]
    assert "weigh 0" in find_reward_faults(idle, has_references=True)[0]
    rules = build_rules(rewards[:2] + rewards[:1], has_references=True)
    assert [rule.name for rule in rules] == ["pattern_1", "match", "pattern_2"]
