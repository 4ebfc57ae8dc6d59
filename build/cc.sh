#!/usr/bin/env bash
# Makes a C compiler callable: Go's race detector links with one. Nothing else
# here is compiled by it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_package gcc gcc libc6-dev
