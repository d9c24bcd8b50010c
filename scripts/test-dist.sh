#!/usr/bin/env bash
# Tries what `make dist` has built, each file as those who download it would: in an empty folder, where there is nothing but what it
# needs, on a private server. What this machine cannot do is a named skip. As root, the Debian package is installed and removed.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "Tests of dist" scripts/test-dist.sh "$@"; fi

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
readonly files=$target/dist
[[ -f $files/SHA256SUMS ]] || { echo "there is no $files/SHA256SUMS: make dist" >&2; exit 1; }
(cd "$files" && sha256sum --quiet --check SHA256SUMS)

if grep --files-with-matches --fixed-strings "$PWD/" "$files"/*.json; then
    echo "paths of this machine are in these files" >&2
    exit 1
fi

cargo build --quiet --package firearrow-testkit --example serve
readonly version=${FIREARROW_DIST_SERVER:-4.0}
results=$(mktemp -d)
readonly results
trap 'rm -rf "$results"' EXIT

failed=0
for file in "$files"/*; do
    name=$(basename "$file")
    case $name in
        *-linux-musl.tar.gz) script=static ;;
        *-linux-gnu.tar.gz) script=linux ;;
        *-windows.zip) script=windows ;;
        *.deb) script=deb ;;
        *.whl) script=wheel ;;
        *) continue ;;
    esac
    # `serve` says so itself when there is no server: then nothing was tried.
    if FIREARROW_DIST_RESULT=$results/$name scripts/step.sh "$name" \
        "$target/debug/examples/serve" "$version" -- scripts/test-dist/$script.sh "$file"; then
        [[ -f $results/$name ]] || { echo "SKIP $name: there is no Firebird $version here (make setup)" | tee "$results/$name"; }
    else
        echo "FAILED $name" | tee "$results/$name"
        failed=1
    fi
done
echo
cat "$results"/*
exit "$failed"
