#!/bin/sh
# Installs a layer of the Python environment (training, gpu-training, vllm) in BAKEHOUSE_CACHE_DIR, like the server does
# when it starts.
set -eu
LAYER=$1 exec node --input-type=module -e "
  import { ensureLayer } from '/opt/bakehouse/app/server/src/engine/host/environment/ensure-layer.ts';
  const { LAYER, BAKEHOUSE_CACHE_DIR: cacheDir, BAKEHOUSE_TORCH_INDEX: torchIndex } = process.env;
  let printed = '';
  await ensureLayer({ cacheDir, torchIndex: torchIndex || undefined, python: 'python3' }, LAYER, (detail) => {
    if (detail !== printed) console.log(detail);
    printed = detail;
  });
"
