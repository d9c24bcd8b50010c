#!/usr/bin/env bash
# Builds the archive for Linux with glibc: the command, its benchmarks, the ADBC driver, the ODBC driver. Usage: linux.sh x86_64|aarch64
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh
source scripts/dist/archive.sh

readonly triple=$1-unknown-linux-gnu
build_all "$triple.$glibc"

name=firearrow-$version-$1-linux-gnu
folder=$(stage "$name")
from=$(built "$triple")
add_papers "$folder" install-linux.md
install -D --target-directory "$folder/bin" "$from"/firearrow{,-bench}
install -D -m 644 --target-directory "$folder/lib" "$from"/lib{adbc_driver_firebird,firearrowodbc}.so
# shellcheck disable=SC2046 # the runner is a word or nothing
add_completions "$folder/share" $(runner "$1") "$folder/bin/firearrow"
tar_up "$name"
