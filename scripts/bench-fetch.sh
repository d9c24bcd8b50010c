#!/usr/bin/env bash
# Measures fetching on the embedded engine and on every available server; bench/runs keeps the figures.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engine.sh

readonly target=${CARGO_TARGET_DIR:-target}
export FIREARROW=$target/release/firearrow ROWS=${BENCH_ROWS:-1000000} REPEAT=${BENCH_REPEAT:-5}

scripts/bench-build.sh

folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
"$FIREARROW" create-demo "$folder/demo.fdb" --rows "$ROWS"
"$FIREARROW" bench fetch "$folder/demo.fdb" --repeat "$REPEAT" --save bench/runs

# shellcheck disable=SC2016 # the variables are for the inner shell
"$target/release/examples/serve" -- bash -euo pipefail -c '
    "$FIREARROW" create-demo "$FIREARROW_URL" --rows "$ROWS"
    reference=(${FIREARROW_CLIENT_LIBRARY:+--reference-client "$FIREARROW_CLIENT_LIBRARY"})
    "$FIREARROW" bench fetch "$FIREARROW_URL" "${reference[@]}" --repeat "$REPEAT" --save bench/runs'
