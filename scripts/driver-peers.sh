#!/usr/bin/env bash
# Builds the contestants of `firearrow bench driver` in other languages (bench/peers/README.md) into a folder: driver-peers
# beside the release build, or the first argument. Further arguments choose some: mono go java rsfbclient. A compiler that is
# missing is named, and its contestant left out.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-${CARGO_TARGET_DIR:-target}/release/driver-peers}
if (($# > 1)); then wanted=("${@:2}"); else wanted=(mono go java rsfbclient); fi
mkdir -p "$folder"
folder=$(realpath "$folder")

has() {
    type -P "$1" >/dev/null || { echo "SKIP $2: no $1" >&2; return 1; }
}

status=0
build() {
    mkdir -p "$folder/$1"
    "$1" || { echo "$1 cannot be built" >&2; status=1; }
}
mono() { mcs -optimize+ "-out:$folder/mono/contestant.exe" -r:System.Data.dll bench/peers/mono/contestant.cs; }
go() { command go build -C bench/peers/go -o "$folder/go/contestant" .; }
java() {
    local scratch=$folder/java/build
    mvn --quiet --batch-mode --file bench/peers/java/pom.xml "-DbuildDirectory=$scratch" package
    mv "$scratch/contestant.jar" "$folder/java/" && rm -rf "$scratch"
}
rsfbclient() {
    CARGO_TARGET_DIR=$folder/rsfbclient/build cargo build --quiet --release --manifest-path bench/peers/rsfbclient/Cargo.toml
    mv "$folder/rsfbclient/build/release/contestant" "$folder/rsfbclient/" && rm -rf "$folder/rsfbclient/build"
}

for peer in "${wanted[@]}"; do
    case $peer in
        mono) if has mcs mono; then build mono; fi ;;
        go) if has go go; then build go; fi ;;
        java) if has mvn java; then build java; fi ;;
        rsfbclient) if has cargo rsfbclient; then build rsfbclient; fi ;;
        *) echo "there is no peer $peer: mono go java rsfbclient" >&2; exit 2 ;;
    esac
done
exit "$status"
