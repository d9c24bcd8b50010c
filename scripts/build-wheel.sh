#!/usr/bin/env bash
# Builds the wheel of the ADBC driver from the library that FIREARROW_ADBC_LIBRARY names, or from a release build.
# The last line of the output is the wheel's name. Usage: build-wheel.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
folder=${1:-$target/wheels}
environment=$(scripts/python-env.sh)

rm -f "$folder"/adbc_driver_firebird-*.whl
"$environment/bin/pip" --quiet --disable-pip-version-check wheel --no-deps --no-build-isolation \
    --wheel-dir "$folder" python/adbc_driver_firebird >&2
ls "$folder"/adbc_driver_firebird-*.whl
