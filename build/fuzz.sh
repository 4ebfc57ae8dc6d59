#!/usr/bin/env bash
# make fuzz: runs each fuzz target of the root module for a while (default 30s).
# Inputs that fail are written beside the target, below testdata/fuzz, to be
# fixed and committed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
time=${1:-30s}

count=0
while IFS=: read -r file name; do
  count=$((count + 1))
  echo "fuzzing $name in $(dirname "$file") for $time"
  go test "./$(dirname "$file")" -run='^$' -fuzz="^$name\$" -fuzztime="$time" </dev/null
done < <(git ls-files -co --exclude-standard -- '*_test.go' | grep -v '^plugin/' |
  xargs -r grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func /:/')
echo "$count fuzz targets, $time each"
