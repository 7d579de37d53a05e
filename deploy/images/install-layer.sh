#!/bin/sh
# Installs a layer of the Python environment (training, gpu-training, vllm) below BAKEHOUSE_CACHE_DIR, as the server does at its start.
set -eu
LAYER=$1 exec node --input-type=module -e "
  import { ensureLayer } from '/opt/bakehouse/app/server/src/engine/host/environment/ensure-layer.ts';
  import { readConfig } from '/opt/bakehouse/app/server/src/config.ts';
  let said = '';
  await ensureLayer(readConfig(process.env), process.env.LAYER, (detail) => {
    if (detail !== said) console.log(detail);
    said = detail;
  });
"
