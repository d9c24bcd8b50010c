#!/usr/bin/env bash
# Runs each fuzz target for FUZZ_SECONDS. A crash ends the run and leaves its input in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly seconds=${FUZZ_SECONDS:-60}

# libFuzzer's instrumentation needs a nightly compiler.
if ! cargo +nightly --version >/dev/null 2>&1; then
    rustup toolchain install nightly --profile minimal
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    cargo install --locked cargo-fuzz
fi

targets=$(cargo +nightly fuzz list)
cargo +nightly fuzz build
for target in $targets; do
    echo "fuzzing $target for $seconds s"
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
done
echo "fuzzed $(wc -w <<<"$targets") targets for $seconds s each, no crash"
