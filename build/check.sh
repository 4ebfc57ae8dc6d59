#!/usr/bin/env bash
# make check: everything that can be said about the tree without running it.
# All checks run; the exit status is 1 if any failed. Nothing outside build/out
# is changed, except that generated files which were out of date are left
# generated.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"
mkdir -p "$out"

failed=0
# step NAME COMMAND...: runs it in a shell of its own, quiet unless it fails.
step() {
  local name=$1 log
  shift
  if log=$("$@" 2>&1 </dev/null); then
    echo "ok    $name"
  else
    echo "FAIL  $name"
    printf '%s\n' "$log" | sed 's/^/      /'
    failed=1
  fi
}

in_plugin() { cd plugin && GOOS=wasip1 GOARCH=wasm "$@"; }
in_host() { cd plugin/wasip1 && GOOS=wasip1 GOARCH=wasm "$@"; }

formatted() {
  local bad
  bad=$(git ls-files -co --exclude-standard -- '*.go' | xargs -r gofmt -l)
  [ -z "$bad" ] || { printf 'not formatted (gofmt -w):\n%s\n' "$bad"; return 1; }
}

tidy() {
  go mod verify && (cd plugin && go mod verify) && (cd build/tools && go mod verify)
}

staticcheck=$out/staticcheck
build_staticcheck() {
  go build -modfile=build/tools/go.mod -o "$staticcheck" honnef.co/go/tools/cmd/staticcheck
}

# What make generate writes must be what is there already.
generated() {
  local before after
  before=$(fingerprints) && build/generate.sh && after=$(fingerprints) || return 1
  [ "$before" = "$after" ] || {
    echo 'out of date (make generate):'
    diff <(printf '%s\n' "$before") <(printf '%s\n' "$after") | sed -n 's/^> [0-9a-f]*  //p'
    return 1
  }
}
fingerprints() {
  git ls-files -co --exclude-standard -z | xargs -0 sha256sum
}

scripts() {
  local f
  for f in build/*.sh .ci/run; do
    bash -n "$f" || return 1
  done
}

step "shell scripts" scripts
step "gofmt" formatted
step "module checksums" tidy
step "go vet" go vet ./...
step "go vet, wasip1" env GOOS=wasip1 GOARCH=wasm go vet ./filter/...
step "go vet, plugin" in_plugin go vet ./...
step "go vet, plugin/wasip1" in_host go vet ./...
step "staticcheck, build" build_staticcheck
step "staticcheck" "$staticcheck" ./...
step "staticcheck, plugin" in_plugin "$staticcheck" ./...
# Functions that only the host calls (go:wasmexport) look unused to it.
step "staticcheck, plugin/wasip1" in_host "$staticcheck" -checks inherit,-U1000 ./...
step "imports, links, file sizes, test habits" go test -count=1 ./testenv/lint/...
step "generated files" generated
exit $failed
