"""Requires the API key on all routes of vLLM, which itself checks it only below `/v1`. vLLM imports
this by name (`--middleware`)."""

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

# Only reports that the server answers.
_OPEN_PATH = "/health"
# Public if a router reads the load there, because llm-d's router sends no key.
_METRICS_PATH = "/metrics"


class KeyGuard:
    """Responds with 401 unless a request has the key that vLLM was started with."""

    def __init__(self, app: App) -> None:
        """Guards `app`. Raises KeyError without a key, so that vLLM does not start."""
        self._app = app
        metrics = (_METRICS_PATH,) if os.environ.get("BAKEHOUSE_OPEN_METRICS") else ()
        self._open_paths = (_OPEN_PATH, *metrics)
        self._expected = f"Bearer {os.environ['VLLM_API_KEY']}".encode()

    async def __call__(self, scope: Fields, receive: Receive, send: Send) -> None:
        """Handles one request, or a lifespan event, which no client triggers."""
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
