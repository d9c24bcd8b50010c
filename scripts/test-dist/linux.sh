#!/usr/bin/env bash
# Tries the archive for Linux with glibc: which glibc it needs, and the command in a root that contains only the C library.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

root=$folder/small
mkdir "$root"
tar --extract --file "$file" --directory "$root" --strip-components 1
check_paths "$root"
check_glibc "$root"/bin/* "$root"/lib/*.so

machine=$(machine_of "$root/bin/firearrow")
command=(in_root "$root" /bin/firearrow)
# Where the C library of the processor is: here, or where Debian puts it to compile for others.
libraries=
if [[ $machine != $(uname -m) ]]; then
    emulator=$(emulator_for "$machine") || exit 0
    libraries=/usr/$machine-linux-gnu
    [[ -f $libraries/lib/libgcc_s.so.1 ]] || { skip "symbols of glibc $glibc only; to run it needs $libraries (packages libc6-arm64-cross and libgcc-s1-arm64-cross for aarch64)"; exit; }
    cp "$emulator" "$root/emulator"
    command=(in_root "$root" /emulator /bin/firearrow)
fi
# The libraries it links to, those of C that its drivers link to, and the loader.
mkdir -p "$root"/{lib64,usr/lib}
for library in $(readelf --wide --dynamic "$root"/bin/* | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p') \
    "$(basename "$(readelf --wide --program-headers "$root/bin/firearrow" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')")" \
    libc.so.6 libm.so.6 libgcc_s.so.1; do
    # Not every folder is there.
    found=$(find "$libraries"/lib "$libraries"/lib64 "$libraries"/usr/lib -name "$library" -not -path '*/lib32/*' 2>/dev/null | head -n 1 || true)
    [[ -n $found ]] || fail "there is no $library"
    cp --dereference --no-clobber "$found" "$root/lib/$library"
done
ln -s ../lib/ld-linux-x86-64.so.2 "$root/lib64/ld-linux-x86-64.so.2"
check_command "${command[@]}"
contains "$("${command[@]}" --version --verbose)" "features: embedded engine, wire"
check_benchmarks "${command[@]/%firearrow/firearrow-bench}"
# The drivers of the archive are found beside the command, which needs /proc for that. An emulator would be another program there.
if [[ ${command[2]} == /bin/firearrow ]]; then
    check_benchmarks "$root/bin/firearrow"
    export HOME=$folder/home
    mkdir "$HOME"
    "$root/bin/firearrow" adbc install >/dev/null
    contains "$(cat "$HOME"/.config/adbc/drivers/*.toml)" "/lib/libadbc_driver_firebird.so"
    "$root/bin/firearrow" odbc install >/dev/null 2>&1
    contains "$(cat "$HOME/.odbcinst.ini")" "/lib/libfirearrowodbc.so"
fi
passed "needs glibc $glibc at most; in a root with the C library"
