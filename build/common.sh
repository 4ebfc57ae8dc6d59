# Sourced by the installers in this folder. Sets root and out, and defines
# need_package.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/out

# need_package PROGRAM DEBIAN_PACKAGE: makes PROGRAM callable. A missing one is
# installed where that is possible without asking, that is as root on a system
# with apt-get; anywhere else the package is named and the caller ends.
need_package() {
  if command -v "$1" >/dev/null 2>&1; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "$1 is missing: install the Debian package $2 (or your system's own) and try again" >&2
    exit 1
  fi
  echo "installing the Debian package $2" >&2
  # RUNLEVEL=1 keeps the package from starting a service of its own.
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  {
    apt-get install -y --no-install-recommends "$2" ||
      { apt-get update && apt-get install -y --no-install-recommends "$2"; }
  } >&2 </dev/null
  if ! command -v "$1" >/dev/null 2>&1; then
    echo "$1 is still missing after the Debian package $2 was installed" >&2
    exit 1
  fi
}
