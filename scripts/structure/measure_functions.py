"""Prints the functions of the named Python files as JSON: {path: [{name, line, lines}]}."""

import ast
import json
import sys
from pathlib import Path


def measure(path: str) -> list[dict[str, str | int]]:
    functions = (
        node
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [
        {"name": each.name, "line": each.lineno, "lines": (each.end_lineno or 0) - each.lineno + 1}
        for each in functions
    ]


print(json.dumps({path: measure(path) for path in sys.argv[1:]}))
