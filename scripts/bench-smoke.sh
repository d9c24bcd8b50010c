#!/usr/bin/env bash
# Runs the suites of `firearrow bench all`, a little of each, on a private server, and writes one page: less than ten minutes. The
# argument chooses the server's version: scripts/bench-smoke.sh 5.0
# BENCH_PROFILE (smoke) and BENCH_ALL (further options, such as --only oltp, or --python for a Python with rivals) change the run.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target}
export FIREARROW=$target/release/firearrow
export OPTIONS="--profile ${BENCH_PROFILE:-smoke} ${BENCH_ALL:-}"

scripts/bench-build.sh

# Without an argument the newest server that there is.
version=${1:-}
if [[ -z $version ]]; then
    for version in 5.0 4.0 3.0; do
        if "$target/release/examples/serve" "$version" -- true 2>&1 | grep '^skipped' >/dev/null; then continue; fi
        break
    done
fi

# shellcheck disable=SC2016 # the variables are for the inner shell
"$target/release/examples/serve" "$version" -- bash -euo pipefail -c '
    reference=(${FIREARROW_CLIENT_LIBRARY:+--reference-client "$FIREARROW_CLIENT_LIBRARY"})
    read -ra options <<< "$OPTIONS"
    "$FIREARROW" bench all "$FIREARROW_URL" "${reference[@]}" "${options[@]}" --save "${BENCH_FOLDER:-target/bench}"'
