#!/usr/bin/env bash
# Runs tests as programs for another system or processor: test-foreign.sh TARGET PACKAGE... [-- ARGUMENTS-OF-TESTS]
#
# The caller sets cargo's variables for the linker and the runner. Their servers are those of this machine: the testkit's example
# `host` starts them for the test programs. Counts what ran on which server, as scripts/test.sh does.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly triple=$1
shift
packages=()
while (($#)) && [[ $1 != -- ]]; do packages+=(--package "$1") && shift; done

cargo build --quiet --package firearrow-testkit --example host
# `--tests` leaves out the tests in documentation, which run natively.
exec "${CARGO_TARGET_DIR:-target}/debug/examples/host" scripts/test.sh --target "$triple" "${packages[@]}" --tests "$@"
