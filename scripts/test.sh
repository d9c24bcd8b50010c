#!/usr/bin/env bash
# Runs cargo's tests with the given arguments, and counts what ran on which server.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
export FIREARROW_TEST_REPORT=$folder/report.jsonl
: >"$FIREARROW_TEST_REPORT"

status=0
cargo test --workspace --no-fail-fast --color never "$@" 2>&1 | tee "$folder/output" || status=$?
python3 scripts/test-report.py "$folder/output" "$FIREARROW_TEST_REPORT" || status=$?
exit "$status"
