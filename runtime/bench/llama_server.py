"""llama.cpp's own server with its own defaults, as a person would start it without Bakehouse.

    python runtime/bench/llama_server.py MODEL.gguf

Prints its address, and answers until its standard input is closed.
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
