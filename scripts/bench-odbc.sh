#!/usr/bin/env bash
# Measures the ODBC driver on the embedded engine and on every available server; bench/runs keeps the figures. Arguments
# choose server versions: scripts/bench-odbc.sh 5.0
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engine.sh

readonly target=${CARGO_TARGET_DIR:-target}
export FIREARROW=$target/release/firearrow
scripts/bench-build.sh

export OPTIONS="--rows ${BENCH_ROWS:-100000} --insert-rows ${BENCH_ROWS:-100000} --repeat ${BENCH_REPEAT:-9} \
    --save bench/runs"

folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086 # several words
"$FIREARROW" bench odbc "$folder/demo.fdb" $OPTIONS

# shellcheck disable=SC2016 # the variables are for the inner shell
"$target/release/examples/serve" "$@" -- bash -euo pipefail -c '
    reference=(${FIREARROW_CLIENT_LIBRARY:+--reference-client "$FIREARROW_CLIENT_LIBRARY"})
    read -ra options <<< "$OPTIONS"
    "$FIREARROW" bench odbc "$FIREARROW_URL" "${reference[@]}" "${options[@]}"'
