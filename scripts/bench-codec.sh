#!/usr/bin/env bash
# Measures the codec without a server: bench-codec.sh [arguments of bench/codec/run.py].
#
# Without arguments it measures what users get, in Rust and through Python. With --save or --check it writes the baseline or
# compares with it; both use a profile that builds faster.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "Codec benchmarks" scripts/bench-codec.sh "$@"; fi

profile=bench
if [[ " $* " == *" --save "* || " $* " == *" --check "* ]]; then profile=codec; fi
built=$(mktemp)
trap 'rm -f "$built"' EXIT
scripts/step.sh "build of the codec benchmarks" \
    cargo bench --package firearrow-codec --profile "$profile" --no-run --message-format json-render-diagnostics >"$built"
binary=$(sed -n 's/.*"name":"codec".*"executable":"\([^"]*\)".*/\1/p' "$built")

# A gate that lets everything through looks like a fast codec.
scripts/step.sh "tests of the gate" python3 -m unittest discover --start-directory bench/codec
scripts/step.sh "codec benchmarks" python3 bench/codec/run.py "$binary" "$@"
if (($# == 0)); then scripts/step.sh "codec benchmarks in Python" scripts/bench-python.sh --codec; fi
