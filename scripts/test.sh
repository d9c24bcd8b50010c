#!/usr/bin/env bash
# Builds and runs cargo's tests, with the arguments given, and counts what ran on which server. Without --package: those of all crates.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "Rust tests" scripts/test.sh "$@"; fi

scope=(--workspace)
[[ " $* " != *" --package "* ]] || scope=()

# Many tests wait: for time limits, for slow servers, for each other.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((3 * $(nproc) + 1))}

# Databases, and build output. If the disk filled up in the middle, servers would stop and every test would wait for them.
needed=6000
[[ -d ${CARGO_TARGET_DIR:-target}/debug ]] || needed=16000
for place in . "${TMPDIR:-/tmp}"; do
    free=$(df --output=avail --block-size=1M "$place" | tail -n 1)
    if ((free < needed)); then
        echo "tests: $(realpath "$place") has $((free)) MB left, and tests need $needed MB: free some, or set TMPDIR" >&2
        exit 1
    fi
done

folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
export FIREARROW_TEST_REPORT=$folder/report.jsonl
: >"$FIREARROW_TEST_REPORT"

# What this writes about itself names the package of each test binary, which the run does not tell.
scripts/step.sh "build of the tests" \
    cargo test "${scope[@]}" --no-run --message-format json-render-diagnostics "$@" >"$folder/built"
status=0
cargo test "${scope[@]}" --no-fail-fast --color never "$@" 2>&1 |
    python3 scripts/test-report.py "$folder/built" "$FIREARROW_TEST_REPORT" "$folder/failed" || status=$?
((status)) || exit 0

# Thousands of tests race with real servers, on machines that may be busy. A few that failed run once more, by themselves, and
# what then passes is named: it is a defect all the same, of a test or of what it tests.
[[ -s $folder/failed ]] || exit "$status"
mapfile -t failed <"$folder/failed"
((${#failed[@]} <= 3)) || exit "$status"
echo "Once more: ${failed[*]}"
options=()
for option in "$@"; do
    [[ $option != -- ]] || break
    options+=("$option")
done
RUST_TEST_THREADS=1 cargo test "${scope[@]}" --no-fail-fast --color never "${options[@]}" -- --exact "${failed[@]}" \
    >"$folder/again" 2>&1 || { cat "$folder/again" && exit 1; }
# A test of that name may be in several binaries; one that no longer runs has not passed.
for test in "${failed[@]}"; do
    grep --quiet --fixed-strings --line-regexp "test $test ... ok" "$folder/again" || { cat "$folder/again" && exit 1; }
done
printf 'FLAKY %s: it failed, see above, and passed by itself\n' "${failed[@]}"
