#!/usr/bin/env bash
# Makes redis-server callable (STORE=cluster, and the tests on a real cluster)
# and prints its path: the one in PATH, else the Debian package.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_package redis-server redis-server
command -v redis-server
