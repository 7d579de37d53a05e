#!/bin/sh
# Builds the images with docker or buildah: deploy/images/build.sh [PREFIX [TARGET…]], for example
# `BUILD_FLAGS=--push deploy/images/build.sh registry.example.com/bakehouse-`. BUILD_FLAGS are flags of the builder.
set -eu
cd "$(dirname "$0")/../.."
prefix=${1:-bakehouse-}
if [ $# -gt 1 ]; then shift; else set -- server runtime-cpu runtime-cuda; fi
version=$(sed -n 's/^appVersion: *//p' deploy/chart/bakehouse/Chart.yaml | tr -d '"')
if docker buildx version > /dev/null 2>&1; then builder='docker buildx build --load'; else builder='buildah build --layers'; fi
for target; do
  # shellcheck disable=SC2086 # flags are separate words
  $builder ${BUILD_FLAGS:-} --file deploy/images/Dockerfile --target "$target" --tag "$prefix$target:$version" .
done
