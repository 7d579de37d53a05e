"""How the bare pipelines are asked: one prompt after the other, each timed in their own process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def time_prompts(generate: Callable[[str], None], first: str) -> None:
    """Generates from `first`, says "ready", then answers each line of stdin, a prompt, with the
    seconds that it took. Returns when stdin ends.
    """
    generate(first)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        generate(line.strip())
        print(time.perf_counter() - start, flush=True)
