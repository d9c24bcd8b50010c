#!/usr/bin/env bash
# Builds the tests of packages, by default of the client, for ARM and runs them under QEMU, on private servers of this machine. What
# is missing for that is a named skip.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "tests for ARM" scripts/test-arm.sh "$@"; fi

readonly triple=aarch64-unknown-linux-gnu root=/usr/aarch64-linux-gnu
if (($# == 0)); then set -- firearrow-proto firearrow; fi

skip() { echo "SKIP $* for ARM: $reason" && exit 0; }
if ! command -v qemu-aarch64-static >/dev/null; then
    reason="no QEMU: install qemu-user-static" skip "$@"
elif ! command -v aarch64-linux-gnu-gcc >/dev/null || [[ ! -e $root/lib/libc.so.6 ]]; then
    reason="no linker: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross" skip "$@"
elif [[ ! -d $(rustc --print target-libdir --target "$triple") ]]; then
    reason="no standard library: run \`rustup target add $triple\`" skip "$@"
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Tests that start their own program again need it as well.
export FIREARROW_TEST_RUNNER="qemu-aarch64-static -L $root"
# A test binary that hangs fails after an hour.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="timeout --foreground 3600 $FIREARROW_TEST_RUNNER"
scripts/test-foreign.sh "$triple" "$@"
