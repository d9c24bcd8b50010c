#!/usr/bin/env bash
# Builds what all benchmarks need, in one go: built one by one, packages have other features, and take as long again.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release --package firearrow --package firearrow-adbc-library --package firearrow-cli --package firearrow-odbc-library \
    --package firearrow-peers --package firearrow-python --package firearrow-testkit --features firearrow/tokio \
    --lib --bins --example serve --example connections
