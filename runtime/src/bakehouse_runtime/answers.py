"""Maps the server's responses to errors."""

from __future__ import annotations

import httpx

from .errors import ResponseError, WorkloadOver

_ENDED = {401, 403, 404, 410}
_RETRYABLE = {408, 425, 429}


def raise_unless_ok(response: httpx.Response) -> None:
    """Raises WorkloadOver if the server has ended the workload, httpx.HTTPStatusError if the
    request may be retried, and ResponseError otherwise."""
    status = response.status_code
    if status < 300:
        return
    if status in _ENDED:
        raise WorkloadOver(f"The server has ended this workload ({status}).")
    if status >= 500 or status in _RETRYABLE:
        raise httpx.HTTPStatusError(f"status {status}", request=response.request, response=response)
    response.read()
    raise ResponseError(
        f"The server refused {response.request.method} {response.request.url.path} "
        f"with {status}: {response.text[:300]}",
        status,
    )
