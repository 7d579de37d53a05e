"""Three tools, and their results for the sides 2 and 3."""

MODEL = "starter-model"
FUNCTIONS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "power": lambda a, b: a**b,
}
RESULTS = [5, 6, 8]
QUESTION = "What is (2 + 3) …?"
SIDES = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
OPENAI_TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": f"Calculates: {name}", "parameters": SIDES},
    }
    for name in FUNCTIONS
]
