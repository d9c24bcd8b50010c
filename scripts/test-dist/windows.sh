#!/usr/bin/env bash
# Tries the archive for Windows under Wine. FIREARROW_WINE_LIBRARIES is a folder of libraries that this Wine lacks.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

(cd "$folder" && unzip -q "$file")
check_paths "$folder"
program=$(echo "$folder"/*/firearrow.exe)
wine=${WINE:-wine}
command -v "$wine" >/dev/null || { skip "needs Wine"; exit; }
if [[ -d ${FIREARROW_WINE_LIBRARIES:-} ]]; then cp "$FIREARROW_WINE_LIBRARIES"/*.dll "$(dirname "$program")"; fi
export WINEPREFIX=${WINEPREFIX:-$folder/wine} WINEDEBUG=${WINEDEBUG:--all}
check_command "$wine" "$program"
passed "under Wine"
