#!/usr/bin/env bash
# Tries the archive for Windows under Wine. It may lack a library that Rust programs need, which scripts/wine/prepare.sh makes.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

python3 -m zipfile -e "$file" "$folder"
check_paths "$folder"
program=$(echo "$folder"/*/firearrow.exe)
missing=$(scripts/wine/missing.sh)
[[ -z $missing ]] || { skip "content only: $missing"; exit; }
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# Never the user's own folder of Wine.
export WINEDEBUG=-all WINEPREFIX=$target/wine-dist
trap 'wineserver --kill || true; rm -rf "$folder"' EXIT
scripts/wine/prepare.sh
check_command wine "$program"
check_benchmarks wine "$program"

# A linker that ignores the lists of exports would export everything.
for driver in adbc:adbc_driver_firebird odbc:firearrowodbc; do
    wanted=$(awk '/^ / { print $1 }' "crates/${driver%:*}-library/exports.def" | sort)
    exported=$(x86_64-w64-mingw32-objdump --private-headers "$folder"/*/"${driver#*:}.dll" |
        awk '/^\[Ordinal\/Name Pointer\]/ { on = 1; next } NF == 0 { on = 0 } on { print $NF }' | sort)
    [[ $exported == "$wanted" ]] || fail "${driver#*:}.dll exports $(wc -l <<<"$exported") names instead of $(wc -l <<<"$wanted")"
done

# The drivers of the archive are found beside the command and registered, for Wine's user.
for driver in adbc odbc; do
    text=$(wine "$program" $driver install 2>&1) || fail "$text"
    contains "$(wine "$program" $driver status 2>&1)" ".dll"
    text=$(wine "$program" $driver uninstall 2>&1) || fail "$text"
done
passed "under Wine; both drivers registered and removed"
