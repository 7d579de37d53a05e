"""Starts llama.cpp's own server with its own defaults, for comparison with Bakehouse.

    python runtime/bench/llama_server.py MODEL.gguf

Prints its address, and serves until stdin is closed.
"""

from __future__ import annotations

import sys

import xllamacpp


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
