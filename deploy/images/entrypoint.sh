#!/bin/sh
# Links the Python environment of the image into the cache folder, which may be an empty volume.
set -eu
mkdir -p "$BAKEHOUSE_CACHE_DIR"
ln -sfn /opt/bakehouse/python "$BAKEHOUSE_CACHE_DIR/python"
exec "$@"
