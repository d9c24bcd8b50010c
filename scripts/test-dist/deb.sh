#!/usr/bin/env bash
# Installs the Debian package, connects with isql of unixODBC, and removes the package.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

dpkg-deb --extract "$file" "$folder/content"
check_paths "$folder/content"
check_glibc "$(find "$folder/content" -name '*.so')"
if command -v lintian >/dev/null; then
    # Not for Debian's own archive: no bug is closed, there is no watch file, and crates contain zlib.
    found=$(lintian --allow-root --fail-on none "$file" | grep '^E:' || true)
    [[ -z $found ]] || fail "$found"
fi
architecture=$(dpkg-deb --field "$file" Architecture)
if [[ $architecture != $(dpkg --print-architecture) ]]; then skip "content only: it is for $architecture"; exit; fi
if ((EUID)); then skip "content only: root can install it"; exit; fi
if ! { command -v odbcinst && command -v isql; } >/dev/null; then skip "content only: needs unixodbc"; exit; fi
package=$(dpkg-deb --field "$file" Package)
if odbcinst -q -d -n Firearrow >/dev/null 2>&1; then skip "content only: a driver Firearrow is registered already"; exit; fi

trap 'dpkg --purge "$package" >/dev/null 2>&1; rm -rf "$folder"' EXIT
dpkg --install "$file" >/dev/null
# Once more, as an upgrade does.
dpkg --install "$file" >/dev/null
contains "$(odbcinst -q -d)" "[Firearrow]"

connect="Driver=Firearrow;Dbname=$FIREARROW_URL;Create_Db=Y"
text=$(echo 'SELECT 40 + 2 AS N FROM RDB$DATABASE' | isql -b -k "$connect" 2>&1) || fail "$text"
contains "$text" "42"
dpkg --remove "$package" >/dev/null
if odbcinst -q -d | grep Firearrow >/dev/null; then fail "it is still registered"; fi
passed "installed, upgraded, asked by isql of unixODBC, removed"
