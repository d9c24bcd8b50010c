#!/usr/bin/env bash
# Builds the archive with the command as one static file (and its benchmarks as another), without the embedded engine. Usage: musl.sh x86_64|aarch64
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh
source scripts/dist/archive.sh

readonly triple=$1-unknown-linux-musl
# A static program cannot load an engine.
build "$triple" --package firearrow-cli --bins --no-default-features

name=firearrow-$version-$1-linux-musl
folder=$(stage "$name")
add_papers "$folder" install-static.md
install --target-directory "$folder" "$(built "$triple")"/firearrow{,-bench}
# shellcheck disable=SC2046 # the runner is a word or nothing
add_completions "$folder/share" $(runner "$1") "$folder/firearrow"
tar_up "$name"
