#!/bin/sh
# Python of the CUDA image: the environment of vLLM for a spec that it serves, that of the runtime for everything else.
set -eu
environment=env
if [ "${3:-}" = serve ] && grep -q '"engine": *"vllm"' "${4:-}"; then environment=vllm-env; fi
exec "$(dirname "$(dirname "$0")")/$environment/bin/python" "$@"
