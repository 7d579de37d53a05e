#!/bin/sh
# Python of the runtime images: runs specs with the engine vLLM in vLLM's environment, everything else in the runtime's.
set -eu
export HOME=/work PYTHONPATH=/opt/bakehouse/app/runtime/src PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1 GOMP_SPINCOUNT=5000
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
environment=env
if [ "${3:-}" = serve ] && grep -q '"engine": *"vllm"' "${4:-}"; then environment=vllm-env; fi
exec "$(dirname "$(dirname "$0")")/$environment/bin/python" "$@"
