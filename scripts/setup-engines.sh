#!/usr/bin/env bash
# Installs embedded engines for tests and the demo: 5.0 in the virtual environment .venv, 4.0 and 3.0 in the cache folder,
# because one environment can hold only one version. The argument `demo` leaves out the older ones.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly cache=${FIREARROW_CACHE:-.cache}
readonly engine5=5.0.4.4 engine4=4.0.7.4 engine3=3.0.14.4

say() { echo "embedded engines: $*"; }

if [[ ! -x .venv/bin/pip ]]; then
    say "making .venv"
    rm -rf .venv
    python3 -m venv .venv
fi
pip() { .venv/bin/pip --quiet --disable-pip-version-check "$@"; }

say "installing $engine5 into .venv"
pip install "firebird-embedded==$engine5"

if [[ ${1:-} == demo ]]; then exit 0; fi

# Prints the path of a system library, given its name. It reads to the end: if awk ended first, ldconfig could fail, and this with it.
library() { PATH=$PATH:/sbin ldconfig -p | awk -v name="$1" '$1 == name && !path { path = $NF } END { print path }'; }

for version in "$engine4" "$engine3"; do
    folder=$cache/firebird-embedded-${version%.*.*}
    if [[ $(cat "$folder/.complete" 2>/dev/null) != "$version" ]]; then
        say "unpacking $version into $folder"
        rm -rf "$folder" "$folder.part"
        pip install --no-deps --target "$folder.part" "firebird-embedded==$version"
        # The wheels look in ../lib for libraries under old names; Debian has them under new ones.
        mkdir "$folder.part/firebird/embedded/lib"
        for pair in libtommath.so.0=libtommath.so.1 libncurses.so.5=libncurses.so.6; do
            target=$(library "${pair#*=}")
            if [[ -n $target ]]; then ln -s "$target" "$folder.part/firebird/embedded/lib/${pair%=*}"; fi
        done
        ln -s ../runtime/libtomcrypt.so.1 "$folder.part/firebird/embedded/lib/"
        echo "$version" >"$folder.part/.complete"
        mv "$folder.part" "$folder"
    fi
done
say "done"
