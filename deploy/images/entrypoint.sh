#!/bin/sh
# The Python environment is part of the image, and the cache folder may be a fresh volume.
set -eu
mkdir -p "$BAKEHOUSE_CACHE_DIR"
ln -sfn /opt/bakehouse/python "$BAKEHOUSE_CACHE_DIR/python"
exec "$@"
