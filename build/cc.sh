#!/usr/bin/env bash
# Makes a C compiler callable: Go's race detector links with one, and tests build
# the library that shifts a Redis server's clock (testenv/rediscluster/shim).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_package gcc gcc libc6-dev
