#!/usr/bin/env bash
# Makes the Wine folder that WINEPREFIX names, if it is not there, and adds what Rust programs miss in it.
set -euo pipefail
cd "$(dirname "$0")"

# No questions about Mono and Gecko, which nothing here needs.
export WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
readonly system=$WINEPREFIX/drive_c/windows/system32

if [[ ! -f $WINEPREFIX/.complete ]]; then
    rm -rf "$WINEPREFIX"
    mkdir -p "$(dirname "$WINEPREFIX")"
    timeout 300 wine wineboot --init >/dev/null 2>&1
    # A newer Wine brings its own.
    if [[ ! -e $system/bcryptprimitives.dll ]]; then
        x86_64-w64-mingw32-gcc -O1 -shared -o "$system/bcryptprimitives.dll" bcryptprimitives.c -ladvapi32
    fi
    touch "$WINEPREFIX/.complete"
fi
