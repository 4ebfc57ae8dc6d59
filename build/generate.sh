#!/usr/bin/env bash
# make generate: runs every go:generate line of the root module. The tools are
# pinned in build/tools/go.mod.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
go generate ./...
