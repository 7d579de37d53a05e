"""The loop of the benchmark programs: reads prompts from stdin and times each one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def time_prompts(generate: Callable[[str], None], first: str) -> None:
    """Generates from `first` as a warm-up and prints "ready". Then prints the seconds for each
    prompt, one per line of stdin. Returns when stdin ends.
    """
    generate(first)
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        generate(line.strip())
        print(time.perf_counter() - start, flush=True)
