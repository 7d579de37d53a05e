#!/bin/sh
# Writes the lock files from pyproject.toml and the requirements-*.in beside it. Needs uv (`pip install uv`). Versions that are locked
# stay until those ask for others; `./lock.sh --upgrade` moves them on.
# With --check nothing is written: it fails when a lock file is not what it would write.
set -eu
cd "$(dirname "$0")"

check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi

lock() { # file, what it is resolved from, then further arguments
  file=$1
  source=$2
  shift 2
  out=$file
  if [ "$check" = yes ]; then
    out=$(mktemp)
    cp "$file" "$out"
  fi
  uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
    --python-version 3.11 "$source" --output-file "$out" "$@"
  if [ "$check" = yes ]; then
    cmp -s "$file" "$out" || { echo "runtime/$file is not fresh: run runtime/lock.sh" >&2; exit 1; }
    rm "$out"
  fi
}

# What both phases share has the same versions, so that the second leaves the first alone.
lock requirements-serve.lock pyproject.toml "$@"
lock requirements.lock pyproject.toml --extra train --constraint requirements-serve.lock "$@"
lock requirements-gpu.lock pyproject.toml --extra train --extra gpu --constraint requirements.lock "$@"
lock requirements-dev.lock pyproject.toml --extra train --extra gpu --extra dev --constraint requirements-gpu.lock "$@"
lock requirements-vllm.lock requirements-vllm.in "$@"
lock requirements-clients.lock requirements-clients.in "$@"
lock requirements-s3.lock requirements-s3.in "$@"
