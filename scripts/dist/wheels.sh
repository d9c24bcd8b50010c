#!/usr/bin/env bash
# Builds the wheels of both Python packages for Linux with glibc. Usage: wheels.sh x86_64|aarch64
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh

readonly triple=$1-unknown-linux-gnu tag=manylinux_${glibc/./_}
export PATH=$PWD/.venv-dist/bin:$PATH

# The driver as the archive has it.
build_all "$triple.$glibc"
rm -f "$output"/{adbc_driver_firebird,firearrow}-*_"$1".whl
library=$(built "$triple")/libadbc_driver_firebird.so
FIREARROW_ADBC_LIBRARY=$library FIREARROW_GLIBC=$glibc pip --quiet --disable-pip-version-check wheel --no-deps \
    --no-build-isolation --wheel-dir "$output" python/adbc_driver_firebird

# A link to a debug build would be packed beside the module.
rm -f python/firearrow/src/firearrow/_core*.so
(cd python/firearrow && maturin build --quiet --locked --profile "$profile" --zig --target "$triple" \
    --compatibility "$tag" --out "$output")
ls "$output"/*_"$1".whl
