"""Lets nobody use vLLM without its key. vLLM imports this by name (`--middleware`), and itself asks
for the key below `/v1` alone."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Fields = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Fields]]
    Send = Callable[[Fields], Awaitable[None]]
    App = Callable[[Fields, Receive, Send], Awaitable[None]]

# Says that it answers, and nothing else.
_OPEN_PATH = "/health"
# How busy it is, open where a router may ask: llm-d's shows no key there.
_METRICS_PATH = "/metrics"


class KeyGuard:
    """Answers 401 to whoever does not show the key that vLLM was started with."""

    def __init__(self, app: App) -> None:
        """Guards `app`. Raises KeyError where there is no key: vLLM does not start then."""
        self._app = app
        metrics = (_METRICS_PATH,) if os.environ.get("BAKEHOUSE_OPEN_METRICS") else ()
        self._open_paths = (_OPEN_PATH, *metrics)
        self._expected = f"Bearer {os.environ['VLLM_API_KEY']}".encode()

    async def __call__(self, scope: Fields, receive: Receive, send: Send) -> None:
        """One request, or the beginning and end of the server, which nobody asks for."""
        if scope["type"] == "lifespan" or self._is_open(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _is_open(self, scope: Fields) -> bool:
        shown = dict(scope["headers"]).get(b"authorization", b"")
        return scope["path"] in self._open_paths or secrets.compare_digest(shown, self._expected)
