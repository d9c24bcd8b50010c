#!/usr/bin/env bash
# Builds the ADBC wheel around a debug driver, installs it and tests it with real consumers, on the embedded engine and on
# every available server; then the package firearrow, from its sources. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "Python tests" scripts/test-python.sh "$@"; fi

readonly target=${CARGO_TARGET_DIR:-target}
# Reuse the build of the Rust tests: another selection of packages would have other features and recompile most of it.
cargo test --workspace --no-run --quiet
# The extension module has no Rust tests, which would build it.
cargo build --workspace --lib --tests --quiet

scripts/step.sh "Python environment" scripts/python-env.sh >/dev/null
environment=$(scripts/python-env.sh)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
library=$(realpath "$target/debug/deps/libadbc_driver_firebird.so")
FIREARROW_ADBC_LIBRARY=$library scripts/step.sh "Python package" scripts/build-wheel.sh "$folder"
"$environment/bin/pip" --quiet --disable-pip-version-check install --no-deps --force-reinstall "$folder"/*.whl

# firearrow is imported from its sources, beside the extension module that was built with the Rust tests.
ln -sf "$(realpath "$target/debug/libfirearrow_core.so")" python/firearrow/src/firearrow/_core.abi3.so
python3 scripts/python-metadata.py "$folder/site"
export PYTHONPATH=$PWD/python/firearrow/src:$folder/site${PYTHONPATH:+:$PYTHONPATH}

# Exit code of `serve` when its server has died or hangs.
readonly broken=75

# Runs the tests on one platform: platform NAME COMMAND..., with pytest and its arguments as last words of the command.
platform() {
    local failed=0
    echo "Python tests on $1"
    tests "Python tests, $1" "${@:2}" python/tests || failed=$?
    tests "Tests of firearrow, $1" "${@:2}" python/firearrow/tests || failed=$?
    return "$failed"
}

# Runs the tests in a folder, the last argument. As with the Rust tests, what failed runs once more and is named (RERUN); if the
# server died, it runs again on a new one (AGAIN).
tests() {
    local name=$1 command=("${@:2:$#-2}") code=0
    local pytest=("$environment/bin/pytest" -o "cache_dir=$folder/cache of $name" --reruns 1 -rfER)
    pytest+=("${@: -1}" "${arguments[@]}")
    scripts/step.sh "$name" "${command[@]}" "${pytest[@]}" || code=$?
    ((code == broken)) || return "$code"
    echo "AGAIN $name: its server had stopped working and was replaced"
    scripts/step.sh "$name, again" "${command[@]}" "${pytest[@]}" --last-failed
}

# SQLAlchemy's own tests of the dialects.
suite() {
    echo "SQLAlchemy's tests on $1"
    scripts/step.sh "SQLAlchemy's tests, $1" "${@:2}" "$environment/bin/pytest" python/firearrow/tests/sqlalchemy \
        -p no:cacheprovider "${arguments[@]}"
}
readonly arguments=("$@")

# One more at a time than there are processors: a run alone keeps half of one busy. What each has printed comes at the end, one after the other. Each leaves its exit
# code in a file: a shell that has started thousands of processes forgets what became of the first ones.
started=0
start() {
    while (($(jobs -rp | wc -l) > $(nproc))); do wait -n || true; done
    local output=$folder/$started
    {
        code=0
        "$@" >"$output.log" 2>&1 || code=$?
        echo "$code" >"$output.code"
    } &
    started=$((started + 1))
}

# Tests without a database, such as those of types, run once: with the engine, if there is one.
engine=${FIREARROW_ENGINE5:-$(echo "$PWD"/.venv/lib/python3*/site-packages/firebird/embedded/runtime)}
share=
[[ ! -d $engine ]] || share=databases
for version in 3.0 4.0 5.0; do
    # `serve` says so itself when a server is missing.
    # shellcheck disable=SC2016 # the variables are for the inner shell
    start platform "Firebird $version" env "FIREARROW_TEST_SHARE=$share" "$target/debug/examples/serve" "$version" -- \
        sh -c 'FIREARROW_TEST_URLS=$FIREARROW_URL exec "$@"' sh
done
if [[ -d $engine ]]; then
    start platform "the embedded engine" env "FIREARROW_TEST_ENGINE=$engine"
    # On one engine: each takes two minutes, and what differs between servers has tests of its own.
    start suite "the embedded engine" env "FIREARROW_TEST_ENGINE=$engine"
    start suite "the embedded engine, asyncio" env "FIREARROW_TEST_ENGINE=$engine" FIREARROW_TEST_DIALECT=firearrow_async
else
    echo "SKIP Python tests on the embedded engine: no firebird-embedded; run \`make setup\`" >&2
fi

wait
status=0
for ((number = 0; number < started; number++)); do
    code=$(cat "$folder/$number.code" 2>/dev/null || echo 1)
    ((code == 0)) || status=$code
    cat "$folder/$number.log"
done
# Again, because thousands of lines may lie between a failure and the end.
for log in "$folder"/*.log; do
    grep --extended-regexp '^(FAILED|ERROR|RERUN|AGAIN) ' "$log" | sed "s/^/$(head -n 1 "$log"): /" || true
done
if ((status)); then echo "Python tests failed: exit code $status"; fi
exit "$status"
