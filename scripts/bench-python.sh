#!/usr/bin/env bash
# Measures the Python package beside other drivers, on every available server; bench/runs keeps the figures. Arguments choose
# server versions: scripts/bench-python.sh 5.0. With --codec it needs no server, and measures the codec through Python.
#
# BENCH_ROWS (200000), BENCH_ROUNDS (10), BENCH_PARTS: see bench/python/rivals.py.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target}
if [[ ${1:-} == --codec ]]; then
    cargo build --release --package firearrow-python
else
    scripts/bench-build.sh
fi

environment=${FIREARROW_CACHE:-.cache}/bench-python
readonly environment
[[ -x $environment/bin/python ]] || python3 -m venv "$environment"
"$environment/bin/pip" --quiet --disable-pip-version-check install --requirement bench/python/requirements.txt

# The package as it would be installed, around this build.
folder=$(mktemp -d)
readonly folder
trap 'rm -rf "$folder"' EXIT
cp -r python/firearrow/src/firearrow "$folder"
# It may be a link to another build.
rm -f "$folder/firearrow/_core.abi3.so"
cp "$target/release/libfirearrow_core.so" "$folder/firearrow/_core.abi3.so"

export FIREARROW=$target/release/firearrow PYTHON=$environment/bin/python PYTHONPATH=$folder
export FIREARROW_CONNECTIONS=$target/release/examples/connections
if [[ ${1:-} == --codec ]]; then
    "$PYTHON" bench/python/codec.py
    exit
fi

rows=${BENCH_ROWS:-200000}
export BENCH_ROWS=$rows
if (($# == 0)); then set -- 3.0 4.0 5.0; fi
for version in "$@"; do
    name=bench/runs/$(date +%F)-python-firebird-$version
    export name
    # shellcheck disable=SC2016 # the variables are for the inner shell
    "$target/release/examples/serve" "$version" -- bash -euo pipefail -c '
        "$FIREARROW" bench odbc "$FIREARROW_URL" --no-reference --rows "$BENCH_ROWS" --repeat 1 --only describe >/dev/null
        "$PYTHON" bench/python/rivals.py "$FIREARROW_URL" "${FIREARROW_CLIENT_LIBRARY:-libfbclient.so.2}" "$name"'
done
