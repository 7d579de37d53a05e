#!/bin/sh
# Python of the CUDA image: runs specs with the engine vLLM in vLLM's environment, everything else in the runtime's.
set -eu
environment=env
if [ "${3:-}" = serve ] && grep -q '"engine": *"vllm"' "${4:-}"; then environment=vllm-env; fi
exec "$(dirname "$(dirname "$0")")/$environment/bin/python" "$@"
