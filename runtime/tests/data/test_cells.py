from __future__ import annotations

import pytest

from bakehouse_runtime.data.cells import list_of

MILLION = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"[{' ' * MILLION}x", id="blanks"),
        pytest.param(f"['a'{' ' * MILLION}x]", id="blanks in a list"),
        pytest.param("['" + "\\'" * MILLION + "]", id="escaped quotes that are never closed"),
        pytest.param("['a'" + ", dtype=" * MILLION + "]", id="types that are never closed"),
        pytest.param("['a'" + "(" * MILLION + "]", id="brackets that are never closed"),
        pytest.param("[(" + ", " * MILLION + "]", id="commas"),
    ],
)
def test_reads_a_malicious_cell_in_linear_time(text: str) -> None:
    # Rescanning from each of its characters would take hours.
    assert list_of(text) is None


def test_reads_printed_lists() -> None:
    assert list_of("array(['a', 'it\\'s'] , dtype='<U5')") == ["a", "it's"]
    assert list_of("[array(['Hi', 'Hello'], dtype=object)]") == [["Hi", "Hello"]]
    assert list_of("[INST] Hi ['a']") is None
    assert list_of("[{'a': Infinity}]") is None
