#!/usr/bin/env bash
# Runs cargo's tests, with the arguments given, and counts what ran on which server.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
export FIREARROW_TEST_REPORT=$folder/report.jsonl
: >"$FIREARROW_TEST_REPORT"

# Where `make setup` has put the engines, for tests that take them as they are.
cache=${FIREARROW_CACHE:-$PWD/.cache}
for engine in "3=$cache"/firebird-embedded-3.0 "4=$cache"/firebird-embedded-4.0 "5=$PWD"/.venv/lib/python3*/site-packages; do
    name=FIREARROW_ENGINE${engine%%=*}
    runtime=$(echo ${engine#*=}/firebird/embedded/runtime)
    if [[ -z ${!name:-} && -d $runtime ]]; then
        export "$name=$runtime"
    fi
done

status=0
cargo test --workspace --no-fail-fast --color never "$@" 2>&1 | tee "$folder/output" || status=$?
python3 scripts/test-report.py "$folder/output" "$FIREARROW_TEST_REPORT" || status=$?
exit "$status"
