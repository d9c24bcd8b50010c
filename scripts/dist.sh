#!/usr/bin/env bash
# Builds what users download into target/dist. Arguments name the parts to build; the default is all.
#
# DIST_PROFILE names another profile of cargo's (`demo` is the fastest one), to try this script.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z ${FIREARROW_STEPS:-} ]]; then exec scripts/step.sh "all of it" scripts/dist.sh "$@"; fi
source scripts/dist/settings.sh

# The Debian packages come right after the archives whose library they share: the builder of wheels has settings of its own, after
# which cargo builds much of it again.
readonly all=(
    linux-x86_64 deb-amd64
    linux-aarch64 deb-arm64
    musl-x86_64 musl-aarch64
    windows-x86_64
    wheels-x86_64 wheels-aarch64
    sbom
)
parts=("$@")
((${#parts[@]})) || parts=("${all[@]}")

targets=()
for part in "${parts[@]}"; do
    if [[ " ${all[*]} " != *" $part "* ]]; then
        echo "dist: there is no $part: ${all[*]}" >&2
        exit 2
    fi
    case $part in
        deb-amd64) targets+=(x86_64-unknown-linux-gnu) ;;
        deb-arm64) targets+=(aarch64-unknown-linux-gnu) ;;
        linux-* | wheels-*) targets+=("${part#*-}-unknown-linux-gnu") ;;
        musl-*) targets+=("${part#*-}-unknown-linux-musl") ;;
        windows-*) targets+=("${part#*-}-pc-windows-gnu") ;;
    esac
done
scripts/step.sh tools scripts/dist/tools.sh "${targets[@]}"

# Files of another commit must not get into the same list of checksums.
readonly about="$FIREARROW_COMMIT $profile"
if [[ $about == *-dirty* || $(cat "$work/about" 2>/dev/null) != "$about" ]]; then rm -rf "$output" "$work"; fi
mkdir -p "$output" "$work"
echo "$about" >"$work/about"

for part in "${parts[@]}"; do
    argument=${part#*-}
    [[ $part != sbom ]] || argument=
    # shellcheck disable=SC2086 # sbom has no argument
    scripts/step.sh "$part" "scripts/dist/${part%%-*}.sh" $argument
done

cd "$output"
rm -f SHA256SUMS
sha256sum -- * >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
echo
echo "$output, of commit $FIREARROW_COMMIT:"
stat --format '%s %n' -- * | awk '{ printf "%8.2f MB  %s\n", $1 / 1e6, $2 }'
