#!/bin/sh
# Installs a layer of the Python environment (training, gpu-training, vllm) in BAKEHOUSE_CACHE_DIR, like the server does
# when it starts.
set -eu
LAYER=$1 exec node --input-type=module -e "
  import { ensureLayer } from '/opt/bakehouse/app/server/src/engine/host/environment/ensure-layer.ts';
  import { readConfig } from '/opt/bakehouse/app/server/src/config.ts';
  let printed = '';
  await ensureLayer(readConfig(process.env), process.env.LAYER, (detail) => {
    if (detail !== printed) console.log(detail);
    printed = detail;
  });
"
