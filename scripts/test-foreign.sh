#!/usr/bin/env bash
# Runs tests as programs for another system or processor: test-foreign.sh TARGET PACKAGE...
#
# The caller says by cargo's variables how they are linked and run. Their servers are those of this machine: the testkit's example
# `host` starts them for the test programs. Counts what ran on which server, as scripts/test.sh does.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly triple=$1
shift
packages=()
for package in "$@"; do packages+=(--package "$package"); done

cargo build --quiet --package firearrow-testkit --example host
# Documentation has the same code as on this machine.
exec "${CARGO_TARGET_DIR:-target}/debug/examples/host" scripts/test.sh --target "$triple" "${packages[@]}" --tests
