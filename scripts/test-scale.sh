#!/usr/bin/env bash
# Tests Spark, Ray and Dask on the package firearrow from its sources, with the debug extension module, on every available server.
# Arguments go to pytest. Not part of `make test`, since the packages are large and the tests take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target} environment=$PWD/.venv-scale tests=python/firearrow/tests/scale
readonly wanted=$tests/requirements.txt
cargo build --workspace --lib --examples --quiet
if ! cmp --silent "$wanted" "$environment/.requirements"; then
    echo "scale: making $environment" >&2
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" --quiet --disable-pip-version-check install --requirement "$wanted" >&2
    cp "$wanted" "$environment/.requirements"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -sf "$(realpath "$target/debug/libfirearrow_core.so")" python/firearrow/src/firearrow/_core.abi3.so
python3 scripts/python-metadata.py "$folder/site"
export PYTHONPATH=$PWD/python/firearrow/src:$folder/site
# Workers write where nobody keeps it.
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
