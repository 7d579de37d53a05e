"""Adds tools to chat templates that do not support them. Tools are described in the conversation,
in the call format that most models are trained on and that llama.cpp and vLLM can parse."""

from __future__ import annotations

import re

_SAYS_TOOLS = re.compile(r"\btools\b")
_REFUSES_SYSTEM = re.compile(r"system role (is )?not supported", re.IGNORECASE)

_ABOUT = (
    "# Tools\\n\\nYou can call these functions:\\n<tools>",
    "\\n</tools>\\n\\nTo call a function, answer with its name and its arguments as a JSON object "
    "within <tool_call></tool_call>:\\n<tool_call>\\n"
    '{\\"name\\": <function name>, \\"arguments\\": <arguments>}\\n</tool_call>',
)

# Rewrites the turns for the template that follows: calls and results become text, consecutive
# results become one user turn, and the functions are listed in the first turn of HOLDER. A
# conversation without tools is unchanged.
_REWRITE = """
{%- set ns = namespace(turns=[], has_calls=false, about='') -%}
{%- for message in messages -%}
{%- if message.role == 'tool' or message.tool_calls -%}{%- set ns.has_calls = true -%}{%- endif -%}
{%- endfor -%}
{%- if tools or ns.has_calls -%}
{%- if tools -%}
{%- set ns.about = "BEGIN" -%}
{%- for tool in tools -%}{%- set ns.about = ns.about + "\\n" + (tool | tojson) -%}{%- endfor -%}
{%- set ns.about = ns.about + "END" -%}
{%- if 'HOLDER' == 'system' and messages[0].role != 'system' -%}
{%- set ns.turns = [{'role': 'system', 'content': ns.about}] -%}
{%- set ns.about = '' -%}
{%- endif -%}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{%- set ns.said = '<tool_response>\\n' + message.content + '\\n</tool_response>' -%}
{%- if ns.turns and ns.turns[-1].is_result -%}
{%- set ns.said = ns.turns[-1].content + '\\n' + ns.said -%}
{%- set ns.turns = ns.turns[:-1] -%}
{%- endif -%}
{%- set ns.turns = ns.turns + [{'role': 'user', 'content': ns.said, 'is_result': true}] -%}
{%- elif message.tool_calls -%}
{%- set ns.said = message.content or '' -%}
{%- for call in message.tool_calls -%}
{%- if ns.said -%}{%- set ns.said = ns.said + '\\n' -%}{%- endif -%}
{%- set ns.called = call.function.arguments -%}
{%- if ns.called is not string -%}{%- set ns.called = ns.called | tojson -%}{%- endif -%}
{%- set ns.said = ns.said + '<tool_call>\\n{"name": ' + (call.function.name | tojson) -%}
{%- set ns.said = ns.said + ', "arguments": ' + ns.called + '}\\n</tool_call>' -%}
{%- endfor -%}
{%- set ns.turns = ns.turns + [{'role': 'assistant', 'content': ns.said}] -%}
{%- elif ns.about and message.role == 'HOLDER' -%}
{%- set ns.turns = ns.turns + [{'role': 'HOLDER', 'content': JOINED}] -%}
{%- set ns.about = '' -%}
{%- else -%}
{%- set ns.turns = ns.turns + [message] -%}
{%- endif -%}
{%- endfor -%}
{%- set messages = ns.turns -%}
{%- set tools = none -%}
{%- endif %}
"""


def renders_tools(template: str) -> bool:
    """Returns whether a chat template renders the tools of a request itself."""
    return _SAYS_TOOLS.search(template) is not None


def add_tools(template: str) -> str:
    """Returns the chat template with support for tools, calls and results; other conversations
    render as before."""
    has_system = "system" in template and _REFUSES_SYSTEM.search(template) is None
    joined = (
        "message.content + '\\n\\n' + ns.about"
        if has_system
        else "ns.about + '\\n\\n' + message.content"
    )
    rewrite = _REWRITE.lstrip("\n").replace("HOLDER", "system" if has_system else "user")
    begin, end = _ABOUT
    # The rewrite ends without a newline: Jinja trims the newline after a block.
    return rewrite.replace("BEGIN", begin).replace("END", end).replace("JOINED", joined) + template
