#!/usr/bin/env bash
# Builds the wheel around a debug driver, installs it and tests it with real consumers, on the embedded engine and on
# every available server. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=${CARGO_TARGET_DIR:-target}
# Reuse the build of the Rust tests: another selection of packages would have other features and recompile most of it.
cargo test --workspace --no-run --quiet

environment=$(scripts/python-env.sh)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
FIREARROW_ADBC_LIBRARY=$(realpath "$target/debug/deps/libadbc_driver_firebird.so")
export FIREARROW_ADBC_LIBRARY
wheel=$(scripts/build-wheel.sh "$folder")
"$environment/bin/pip" --quiet --disable-pip-version-check install --no-deps --force-reinstall "$wheel"
unset FIREARROW_ADBC_LIBRARY

readonly pytest=("$environment/bin/pytest" python/tests -p no:cacheprovider "$@")
status=0

engine=${FIREARROW_ENGINE5:-$(echo "$PWD"/.venv/lib/python3*/site-packages/firebird/embedded/runtime)}
if [[ -d $engine ]]; then
    echo "Python tests on the embedded engine"
    FIREARROW_TEST_ENGINE=$engine "${pytest[@]}" || status=$?
else
    echo "SKIP Python tests on the embedded engine: no firebird-embedded; run \`make setup\`" >&2
fi
for version in 3.0 4.0 5.0; do
    echo "Python tests on Firebird $version"
    # `serve` reports a missing server itself.
    "$target/debug/examples/serve" "$version" -- \
        sh -c 'FIREARROW_TEST_URLS=$FIREARROW_URL exec "$@"' sh "${pytest[@]}" || status=$?
done
exit "$status"
