"""Writes a small parquet file that expands to gigabytes: every row repeats one long text of a
dictionary.

    python runtime/bench/expanding_parquet.py FILE

The benchmark uploads it as an attacker would.
"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.parquet as pq

TEXT_BYTES = 1_000_000
ROWS = 6_000


def main() -> None:
    text = pa.array(["bread " * (TEXT_BYTES // 6)])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), text)
    pq.write_table(pa.table({"question": column, "answer": column}), sys.argv[1])


if __name__ == "__main__":
    main()
