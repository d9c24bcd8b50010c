#!/usr/bin/env bash
# Measures the wire client with every available server, nearby and over an emulated link; bench/runs keeps the figures.
# Arguments choose server versions: scripts/bench-wire.sh 5.0
# BENCH_ROWS, BENCH_REPEAT and BENCH_WIRE (further options, such as --quick) change the run.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target}
export FIREARROW=$target/release/firearrow
export OPTIONS="${BENCH_ROWS:+--rows $BENCH_ROWS }${BENCH_REPEAT:+--repeat $BENCH_REPEAT }${BENCH_WIRE:-}"

scripts/bench-build.sh

# shellcheck disable=SC2016 # the variables are for the inner shell
"$target/release/examples/serve" "$@" -- bash -euo pipefail -c '
    reference=(${FIREARROW_CLIENT_LIBRARY:+--reference-client "$FIREARROW_CLIENT_LIBRARY"})
    read -ra options <<< "$OPTIONS"
    "$FIREARROW" bench wire "$FIREARROW_URL" "${reference[@]}" "${options[@]}" --save bench/runs'
