#!/usr/bin/env bash
# From nothing to Parquet: creates a database with the embedded engine, copies a table, measures fetching.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engine.sh

readonly firearrow=${CARGO_TARGET_DIR:-target}/release/firearrow
readonly rows=${DEMO_ROWS:-1000000}

mkdir -p demo
if [[ ! -f demo/demo.fdb ]]; then
    # It has another name until it is complete.
    rm -f demo/part.fdb
    "$firearrow" create-demo demo/part.fdb --rows "$rows"
    mv demo/part.fdb demo/demo.fdb
fi
"$firearrow" copy demo/demo.fdb T_WIDE demo/t_wide.parquet --force
"$firearrow" bench fetch demo/demo.fdb --repeat "${DEMO_REPEAT:-3}"
