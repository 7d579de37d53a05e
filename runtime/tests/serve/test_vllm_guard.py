from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bakehouse_runtime.serve.vllm_guard import KeyGuard


def ask(scope: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Returns the messages sent for a request to a guarded app that responds with 'vllm'."""
    monkeypatch.setenv("VLLM_API_KEY", "key")
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    async def vllm(_scope: Any, _receive: Any, send: Any) -> None:
        await send("vllm")

    asyncio.run(KeyGuard(vllm)(scope, receive, send))
    return sent


def http(path: str, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "method": "POST", "path": path, "headers": list(headers)}


@pytest.mark.parametrize(
    "path",
    ["/tokenize", "/invocations", "/metrics", "/v1/chat/completions", "/health/", "//health"],
)
def test_every_route_requires_the_key(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unauthorized = [
        {"type": "http.response.start", "status": 401, "headers": []},
        {"type": "http.response.body", "body": b""},
    ]
    for shown in (b"", b"key", b"Bearer ", b"Bearer other", "Bearer kéy".encode()):
        assert ask(http(path, (b"authorization", shown)), monkeypatch) == unauthorized
    assert ask(http(path), monkeypatch) == unauthorized
    assert ask(http(path, (b"authorization", b"Bearer key")), monkeypatch) == ["vllm"]


def test_health_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(http("/health"), monkeypatch) == ["vllm"]
    assert ask({"type": "lifespan"}, monkeypatch) == ["vllm"]


def test_metrics_are_public_only_if_a_router_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAKEHOUSE_OPEN_METRICS", "1")
    assert ask(http("/metrics"), monkeypatch) == ["vllm"]
    assert ask(http("/tokenize"), monkeypatch) != ["vllm"]


def test_closes_a_websocket_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    scope: dict[str, Any] = {"type": "websocket", "path": "/v1/realtime", "headers": []}
    assert ask(scope, monkeypatch) == [{"type": "websocket.close", "code": 1008}]


def test_fails_to_start_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)

    async def vllm(_scope: Any, _receive: Any, _send: Any) -> None: ...

    with pytest.raises(KeyError):
        KeyGuard(vllm)
