#!/usr/bin/env bash
# Builds the archive for Windows: the command, its benchmarks, the ADBC driver, the ODBC driver. Usage: windows.sh x86_64
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh
source scripts/dist/archive.sh

readonly triple=$1-pc-windows-gnu
build_all "$triple"

name=firearrow-$version-$1-windows
folder=$(stage "$name")
from=$(built "$triple")
add_papers "$folder" install-windows.md
# All in one folder, where Windows looks for libraries.
install --target-directory "$folder" "$from"/{firearrow.exe,firearrow-bench.exe,adbc_driver_firebird.dll,firearrowodbc.dll}
# Wine runs the command here, in a folder of its own.
# Not that of test-windows.sh, which may run at the same time.
export WINEDEBUG=-all WINEPREFIX=$target/wine-dist
missing=$(scripts/wine/missing.sh)
[[ -n $missing ]] || scripts/wine/prepare.sh
add_completions "$folder/share" wine "$folder/firearrow.exe"
[[ -n $missing ]] || wineserver --kill || true
zip_up "$name"
