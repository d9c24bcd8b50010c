#!/usr/bin/env bash
# Builds the wheel of the Python package firearrow, around a release build. The last line of the output is the wheel's name.
# Usage: build-firearrow-wheel.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${1:-${CARGO_TARGET_DIR:-target}/wheels}")
environment=$(scripts/python-env.sh)

rm -f "$folder"/firearrow-*.whl
# A link to a debug build would be packed beside the module.
rm -f python/firearrow/src/firearrow/_core*.so
(cd python/firearrow && "$environment/bin/maturin" build --quiet --release --locked --out "$folder" >&2)
ls "$folder"/firearrow-*.whl
