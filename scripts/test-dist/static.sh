#!/usr/bin/env bash
# Tries the archive of the static command in a root that contains nothing else.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

tar --extract --file "$file" --directory "$folder" --strip-components 1
check_paths "$folder"
for program in firearrow firearrow-bench; do
    if readelf --program-headers "$folder/$program" | grep INTERP >/dev/null; then fail "$program is not static"; fi
done
mkdir "$folder/empty"
cp "$folder"/firearrow{,-bench} "$folder/empty"

machine=$(machine_of "$folder/firearrow")
command=(in_root "$folder/empty" /firearrow)
if [[ $machine != $(uname -m) ]]; then
    emulator=$(emulator_for "$machine") || exit 0
    cp "$emulator" "$folder/empty/emulator"
    command=(in_root "$folder/empty" /emulator /firearrow)
fi
check_command "${command[@]}"
check_benchmarks "${command[@]/%firearrow/firearrow-bench}"
if [[ $machine == $(uname -m) ]]; then check_benchmarks "$folder/firearrow"; fi
contains "$("${command[@]}" --version --verbose)" "features: wire only"
if text=$("${command[@]}" query /shop.fdb 'SELECT 1 FROM RDB$DATABASE' 2>&1); then fail "it has an embedded engine"; fi
contains "$text" "this build has no embedded engine"
passed "static, in an empty root"
