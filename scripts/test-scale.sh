#!/usr/bin/env bash
# Tests Spark, Ray and Dask on the package firearrow from its sources, with the debug extension module, on every available server.
# Arguments go to pytest. Not part of `make test`, since the packages are large and the tests take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target} tests=python/firearrow/tests/scale
cargo build --workspace --lib --examples --quiet
environment=$(scripts/python-env.sh .venv-scale "$tests/requirements.txt")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -sf "$(realpath "$target/debug/libfirearrow_core.so")" python/firearrow/src/firearrow/_core.abi3.so
python3 scripts/python-metadata.py "$folder/site"
export PYTHONPATH=$PWD/python/firearrow/src:$folder/site
# Workers' files go to a folder that is deleted.
export SPARK_LOCAL_DIRS=$folder/spark RAY_TMPDIR=$folder/ray
mkdir -p "$SPARK_LOCAL_DIRS" "$RAY_TMPDIR"

status=0
for version in ${FIREARROW_SCALE_SERVERS:-3.0 4.0 5.0}; do
    echo "Spark, Ray and Dask on Firebird $version"
    # `serve` says so itself when a server is missing.
    # shellcheck disable=SC2016 # the variables are for the inner shell
    "$target/debug/examples/serve" "$version" -- sh -c 'FIREARROW_TEST_URLS=$FIREARROW_URL exec "$@"' sh \
        "$environment/bin/pytest" -c "$tests/pytest.ini" --rootdir "$tests" "$tests" "$@" || status=$?
done
exit "$status"
