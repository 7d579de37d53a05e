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
def test_a_cell_that_is_made_to_take_long_is_read_once(text: str) -> None:
    # Were it read anew from each of its characters, this would take hours.
    assert list_of(text) is None


def test_lists_are_read_as_they_are_printed() -> None:
    assert list_of("array(['a', 'it\\'s'] , dtype='<U5')") == ["a", "it's"]
    assert list_of("[array(['Hi', 'Hello'], dtype=object)]") == [["Hi", "Hello"]]
    assert list_of("[INST] Hi ['a']") is None
    assert list_of("[{'a': Infinity}]") is None
