#!/usr/bin/env bash
# Runs clippy on what is built for Windows. A missing target or compiler is a named skip.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly triple=x86_64-pc-windows-gnu
if [[ ! -d $(rustc --print target-libdir --target "$triple") ]]; then
    echo "SKIP lints for Windows: no standard library: run \`rustup target add $triple\`"
elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    echo "SKIP lints for Windows: no compiler: install gcc-mingw-w64-x86-64"
else
    source scripts/wine/packages.sh
    cargo clippy --target "$triple" "${windows_packages[@]/#/--package=}" --lib --bins --tests -- --deny warnings
fi
