#!/usr/bin/env bash
# Prints what this machine lacks to run Windows programs under Wine; nothing if it lacks nothing.
set -euo pipefail

if ! { command -v wine && command -v wineserver; } >/dev/null; then
    echo "no Wine: install wine and wine64"
elif ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    # The tests' linker; prepare.sh makes a library with it that Rust programs miss in older releases of Wine.
    echo "no linker: install gcc-mingw-w64-x86-64"
fi
