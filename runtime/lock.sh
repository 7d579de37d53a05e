#!/bin/sh
# Writes the lock files from pyproject.toml and requirements-*.in. Needs uv (`pip install uv`). Keeps locked versions that
# still satisfy the requirements; `./lock.sh --upgrade` upgrades them.
# With --check it writes nothing and fails if a lock file is stale.
set -eu
cd "$(dirname "$0")"

check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi

lock() { # lock file, source of the requirements, further arguments of uv
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
    cmp -s "$file" "$out" || { echo "runtime/$file is stale: run runtime/lock.sh" >&2; exit 1; }
    rm "$out"
  fi
}

# Each layer is constrained by the previous one, so that installing it does not change installed packages.
lock requirements-serve.lock pyproject.toml "$@"
lock requirements.lock pyproject.toml --extra train --constraint requirements-serve.lock "$@"
lock requirements-gpu.lock pyproject.toml --extra train --extra gpu --constraint requirements.lock "$@"
lock requirements-dev.lock pyproject.toml --extra train --extra gpu --extra dev --constraint requirements-gpu.lock "$@"
lock requirements-vllm.lock requirements-vllm.in "$@"
lock requirements-clients.lock requirements-clients.in "$@"
lock requirements-s3.lock requirements-s3.in "$@"
