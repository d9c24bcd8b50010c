#!/usr/bin/env bash
# Unpacks a Firebird 4.0 server into ${FIREARROW_CACHE:-.cache}/firebird-4.0, for tests only.
#
# Debian 12 has no such package; Debian 13 does. This script unpacks its packages instead of installing them, together with
# the libraries they need, libc included. Tests start the server through the tree's own dynamic loader (see
# crates/testkit/src/installation.rs), so nothing touches the system and root is not needed.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly suite=trixie
readonly cache=${FIREARROW_CACHE:-.cache}
readonly tree=$cache/firebird-4.0
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "firebird 4.0: $*"; }

# Exit code 2: this machine cannot have it, which is not an error.
unavailable() {
    say "not available here: $*"
    exit 2
}

if [[ -f $tree/.complete ]]; then
    say "$(cat "$tree/.complete") is in place"
    exit 0
fi
{ command -v apt-get && command -v dpkg-deb; } >/dev/null || unavailable "it comes from Debian packages, and apt-get or dpkg-deb is missing"
[[ -f $keyring ]] || unavailable "$keyring is missing (package debian-archive-keyring)"

# The mirror that this machine uses has the other suites, too.
# shellcheck disable=SC2016 # apt expands these, not the shell
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(COMPONENT)|$(IDENTIFIER)|$(CODENAME)|$(REPO_URI)' |
    awk -F'|' '$1 == "Debian" && $2 == "main" && $3 == "Packages" && $4 !~ /-/ && !uri { uri = $5 } END { print uri }')
[[ -n $mirror ]] || unavailable "apt has no Debian package lists (apt-get update may help)"

# A private apt with lists, downloads and state in the cache folder; the system's apt does not see them. The
# downloads survive an interruption.
mkdir -p "$cache"
work=$(cd "$cache" && pwd)/apt-$suite
readonly work
mkdir -p "$work"/{etc,state/lists/partial,archives/partial}
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/etc/sources.list"
cat >"$work/apt.conf" <<EOF
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Etc::sourcelist "$work/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "$work";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
APT::Sandbox::User "$(id -un)";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
EOF

# --config-file is read after the system's configuration, so its proxies stay and its paths and hooks do not.
private_apt() { apt-get --config-file "$work/apt.conf" --quiet=2 "$@"; }

# Packages that only the maintainer scripts need count as installed. apt's resolver finds the rest.
for package in adduser debconf init-system-helpers perl; do
    printf '%s\n' "Package: $package" "Status: install ok installed" "Architecture: all" "Multi-Arch: foreign" \
        "Maintainer: none" "Version: 999" "Description: only maintainer scripts need it" ""
done >"$work/status"

say "reading the package lists of $suite"
private_apt update

# zlib is opened at run time, for wire compression, so no dependency names it.
say "downloading packages"
private_apt --yes --download-only --no-install-recommends install firebird4.0-server firebird4.0-utils zlib1g

say "unpacking"
part=$tree.part
rm -rf "$part"
mkdir -p "$part"/usr/{bin,sbin,lib,lib64}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$part/$name"; done # as in an installed Debian
for package in "$work"/archives/*.deb; do dpkg-deb --extract "$package" "$part"; done
# Redirect links to /etc into the tree.
find "$part" -type l -lname '/etc/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfn --relative "$part$target" "$link"
done
# Firebird first tries ICU without a version: without these links it would find the system's.
for library in "$part"/usr/lib/*/libicu{uc,i18n}.so.[0-9][0-9]; do
    ln -s "$(basename "$library")" "${library%.*}"
done
rm -rf "$part"/usr/share/doc "$part"/usr/share/man

say "trying it"
loader=$(echo "$part"/lib64/ld-linux*.so.*)
libraries=$(dirname "$(echo "$part"/usr/lib/*/libfbclient.so.2)")
banner=$("$loader" --library-path "$libraries" "$part/usr/lib/firebird/4.0/bin/firebird" -z)
echo "${banner##* version }" >"$part/.complete"
rm -rf "$tree"
mv "$part" "$tree"
rm -rf "$work"
say "$(cat "$tree/.complete") is in place"
