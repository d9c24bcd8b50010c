#!/usr/bin/env bash
# Builds the tests of packages, by default of all that Windows programs use, for Windows and runs them under Wine, on private servers
# of this machine. What is missing for that is a named skip. Arguments after -- go to the tests: test-windows.sh firearrow -- types
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "tests for Windows" scripts/test-windows.sh "$@"; fi

readonly triple=x86_64-pc-windows-gnu
if (($# == 0)) || [[ $1 == -- ]]; then
    source scripts/wine/packages.sh
    set -- "${windows_packages[@]}" "$@"
fi

skip() { echo "SKIP $* for Windows: $reason" && exit 0; }
reason=$(scripts/wine/missing.sh)
if [[ -n $reason ]]; then
    skip "$@"
elif [[ ! -d $(rustc --print target-libdir --target "$triple") ]]; then
    reason="no standard library: run \`rustup target add $triple\`" skip "$@"
fi

target=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
export WINEPREFIX=$target/wine
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$PWD/scripts/wine/run.sh
scripts/wine/prepare.sh
# Wine's server, and what else of Wine has started, serves this folder only.
trap 'wineserver --kill || true' EXIT
scripts/test-foreign.sh "$triple" "$@"
