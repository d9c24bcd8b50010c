#!/usr/bin/env bash
# Builds the Debian package of the ODBC driver, which registers itself with unixODBC. Usage: deb.sh amd64|arm64
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/dist/settings.sh
source scripts/dist/archive.sh

case $1 in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
esac
readonly triple=$machine-unknown-linux-gnu package=odbc-firearrow
readonly maintainer=${DIST_MAINTAINER:-firearrow developers <firearrow@users.noreply.github.com>}
build_all "$triple.$glibc"

folder=$(stage "${package}_${version}_$1")
library=usr/lib/$machine-linux-gnu/odbc/libfirearrowodbc.so
papers=$folder/usr/share/doc/$package
install -D -m 644 "$(built "$triple")/libfirearrowodbc.so" "$folder/$library"

# The section of odbcinst.ini, as `firearrow odbc install` writes it, but for the version: an upgrade does not register again.
mkdir -p "$folder/usr/share/$package" "$papers"
printf '%s\n' '[Firearrow]' "Description = Firebird ODBC driver, firearrow" "Driver = /$library" \
    >"$folder/usr/share/$package/odbcinst.ini"
install -m 644 NOTICE "$papers"
{ cat packaging/debian/copyright && sed 's/^$/./; s/^/ /' LICENSE-MIT; } >"$papers/copyright"
printf '%s (%s) stable; urgency=medium\n\n  * See CHANGELOG.md of firearrow.\n\n -- %s  %s\n' \
    "$package" "$version" "$maintainer" "$(date --rfc-email --date "@$SOURCE_DATE_EPOCH")" |
    gzip --no-name --best >"$papers/changelog.gz"

mkdir "$folder/DEBIAN"
install --target-directory "$folder/DEBIAN" packaging/debian/{postinst,prerm}
size=$(du --summarize --apparent-size --block-size=1K "$folder/usr" | cut -f 1)
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$1/; s/@MAINTAINER@/${maintainer//[&\/\\]/\\&}/; s/@SIZE@/$size/; s/@GLIBC@/$glibc/" \
    packaging/debian/control >"$folder/DEBIAN/control"
(cd "$folder" && find usr -type f | sort | xargs md5sum) >"$folder/DEBIAN/md5sums"
touch_all "$folder"
# One thread: more of them divide what they compress differently.
dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$folder" "$work" >/dev/null
mv "$work/${package}_${version}_$1.deb" "$output"
say "${package}_${version}_$1.deb"
