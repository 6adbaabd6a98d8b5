#!/usr/bin/env bash
# Installs the Debian packages that a job needs and that are not there yet.
#
#   tools/ensure_packages.sh SET…     sets: see the table below; `make` calls this for each target
#
# Asks nothing. Says what it installs and why. Where nothing is missing it touches neither apt nor
# the network, so a machine without either still builds. WEIR_REQUIRE (see with_tool.sh) names tools
# that must be there: the set `test` then includes their packages. WEIR_SKIP_PACKAGES=1 trusts you.
set -euo pipefail

# set, package, what for. One place: CONTRIBUTING.md and CI refer to it.
packages() {
  cat <<'TABLE'
make     make                 runs the targets
build    g++                  compiles (C++20)
build    cmake                configures the build
build    ninja-build          runs the build
build    pkg-config           finds libyaml and libnl
build    libcli11-dev         command line
build    libfmt-dev           text formatting
build    nlohmann-json3-dev   JSON
build    libyaml-dev          reads the design file
build    libnl-3-dev          netlink: reads a NIC's QoS from the kernel
build    libpcap-dev          weir pcap --live
build    libdeflate-dev       CRC of RoCE packets
build    zlib1g-dev           captures packed with gzip
build    libzstd-dev          captures packed with zstd
build    liblzma-dev          captures packed with xz
build    libboost-math-dev    distributions behind the tests of weir tune
build    libsqlite3-dev       history of baselines
build    libnlopt-dev         least squares, for weir calibrate
build    libeigen3-dev        singular values, for weir calibrate
build    libcpp-httplib-dev   HTTP, for weir serve
build    prometheus-cpp-dev   metrics, for weir serve
test     clang                compiles the unit tests, a third faster
test     libclang-rt-14-dev   clang's sanitizers and libFuzzer
test     libgtest-dev         unit tests
test     iproute2             network namespaces, for weir probe
test     openssl              a certificate, for weir serve
test     tmux                 a terminal, for weir top
test     systemd              systemd-analyze, for rendered units; starts nothing
test     binutils             reads the release binary
test     python3              golden tests and source checks
clang    clang                second compiler
clang    clang-tidy           static analysis
clang    libclang-rt-14-dev   clang's sanitizers and libFuzzer
format   clang-format         formats the C++ files
bench    libbenchmark-dev     benchmarks
bench    valgrind             counts instructions
bench    tshark               what weir pcap is measured against
pictures chromium             shows and prints a report
pictures poppler-utils        makes pictures of the print
deb      dpkg-dev             library dependencies of the .deb
deb      file                 finds the binaries in the .deb
deb      libopenmpi-dev       MPI, for weir-mpi
TABLE
}

# The package that brings an optional tool.
package_of_tool() {
  case "$1" in
    chromium | clang-format | clang-tidy | codespell | lintian | shellcheck | tshark) echo "$1" ;;
    yanglint) echo libyang2-tools ;;
    mpi) echo libopenmpi-dev ;; # weir-mpi, and mpirun to test it
    netns) echo iproute2 ;; # namespaces for weir probe; the kernel has the rest
    systemd-analyze) echo systemd ;;
    sshd) echo openssh-server ;; # for tests/fleet, which starts its own; the daemon is not started
    # Their packages are downloaded by tests/serve and tests/fleet, and not installed.
    prometheus | alertmanager | slurm) echo openssl ;;
    vm) echo qemu-system-x86 ;; # the guest's packages are downloaded by tests/vm
    *) die "WEIR_REQUIRE names '$1', which no test knows" ;;
  esac
}

die() {
  echo "weir: $*" >&2
  exit 1
}

is_installed() {
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

# Fills `missing` (packages) and `reasons` (one line each) for the requested sets.
collect_missing() {
  local wanted set package why tool
  for wanted in "$@"; do
    packages | grep "^$wanted " >/dev/null ||
      die "no package set '$wanted'; there are: $(packages | cut -d' ' -f1 | sort -u | xargs)"
    while read -r set package why; do
      if [[ "$set" == "$wanted" ]] && ! is_installed "$package"; then
        missing+=("$package")
        reasons+=("$(printf '  %-20s %s' "$package" "$why")")
      fi
    done < <(packages)
    if [[ "$wanted" == test ]]; then
      for tool in ${WEIR_REQUIRE//,/ }; do
        package=$(package_of_tool "$tool")
        is_installed "$package" && continue
        missing+=("$package")
        reasons+=("$(printf '  %-20s %s' "$package" "required by WEIR_REQUIRE")")
      done
    fi
  done
}

install_missing() {
  local as_root=()
  command -v apt-get >/dev/null ||
    die "apt-get is not here; install these by other means: ${missing[*]}"
  if [[ "$(id -u)" -ne 0 ]]; then
    command -v sudo >/dev/null ||
      die "not root and no sudo; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  echo "weir: installing ${#missing[@]} Debian package(s):"
  printf '%s\n' "${reasons[@]}"
  local log
  log=$(mktemp)
  # No daemon of a package is started (invoke-rc.d and deb-systemd-invoke ask this file).
  local policy=/usr/sbin/policy-rc.d made_policy=
  if [[ ! -e "$policy" ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
    made_policy=1
  fi
  if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    [[ -z "$made_policy" ]] || "${as_root[@]}" rm -f "$policy"
    die "apt-get could not install: ${missing[*]}"
  fi
  [[ -z "$made_policy" ]] || "${as_root[@]}" rm -f "$policy"
  rm -f "$log"
}

main() {
  [[ $# -gt 0 ]] || die "usage: tools/ensure_packages.sh SET…"
  [[ -z "${WEIR_SKIP_PACKAGES:-}" ]] || return 0
  missing=()
  reasons=()
  WEIR_REQUIRE=${WEIR_REQUIRE:-}
  if ! command -v dpkg-query >/dev/null; then
    die "this is not Debian: install what these packages hold, then set WEIR_SKIP_PACKAGES=1:" \
      "$(packages | while read -r set package _; do
        [[ " $* " == *" $set "* ]] && printf '%s ' "$package"
      done)"
  fi
  collect_missing "$@"
  [[ ${#missing[@]} -eq 0 ]] || install_missing
}

main "$@"
