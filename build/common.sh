# Sourced by the installers in this folder. Sets root and out, and defines
# need_package.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/out

# need_package PROGRAM DEBIAN_PACKAGE...: makes PROGRAM callable. A missing one is
# installed where that is possible without asking, that is as root on a system
# with apt-get; anywhere else the packages are named and the caller ends.
need_package() {
  local program=$1
  shift
  if command -v "$program" >/dev/null 2>&1; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "$program is missing: install the Debian package $* (or your system's own) and try again" >&2
    exit 1
  fi
  echo "installing from Debian: $*" >&2
  # RUNLEVEL=1 keeps a package from starting a service of its own.
  {
    apt_install "$@" || { apt-get update && apt_install "$@"; }
  } >&2 </dev/null
  if ! command -v "$program" >/dev/null 2>&1; then
    echo "$program is still missing after the Debian package $* was installed" >&2
    exit 1
  fi
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends "$@"
}
