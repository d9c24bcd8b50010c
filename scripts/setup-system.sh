#!/usr/bin/env bash
# Installs the system packages that tests use: the Firebird 3.0 server, libraries for the embedded engines, a C linker, Python's venv
# module, fonts for pictures of charts, a browser for report pages, and clients of the ODBC driver; with the argument `demo`, only
# what the demo uses. Without root it prints what is missing; the affected tests are then named skips.
set -euo pipefail

say() { echo "system packages: $*"; }

if ! { command -v apt-get && command -v dpkg-query; } >/dev/null; then
    say "this is not Debian or a relative; see the list in scripts/setup-system.sh"
    exit 1
fi

installed() { [[ $(dpkg-query --show --showformat='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]; }
available() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# ICU's package name contains its version.
icu() { apt-cache pkgnames libicu | grep -E '^libicu[0-9]+$' | sort -V | tail -n 1; }

# unixODBC with its isql, a driver that is not ours, and programs that connect through it: .NET, Perl, PHP, R. LibreOffice is tested where it is
# installed (libreoffice-base, libreoffice-base-drivers, python3-uno); it is too large to install for it.
readonly odbc=(
    unixodbc unixodbc-dev libsqliteodbc
    mono-mcs mono-runtime libmono-system-data4.0-cil
    libdbd-odbc-perl
    php-cli php-odbc
    r-base-core r-cran-rodbc
)

for_tests=(firebird3.0-server chromium libncurses6 "${odbc[@]}")
[[ ${1:-} != demo ]] || for_tests=()

missing() {
    # The lists of packages, and so ICU's name, may have come since the last call.
    local package wanted=(libtommath1 fonts-dejavu-core "$(icu)" python3-venv build-essential "${for_tests[@]}")
    for package in "${wanted[@]}"; do
        if [[ -n $package ]] && ! installed "$package"; then echo "$package"; fi
    done
}

mapfile -t packages < <(missing)
if ((${#packages[@]} == 0)); then
    say "all installed"
    exit 0
fi
if ((EUID != 0)); then
    say "please install as root: apt-get install --no-install-recommends ${packages[*]}"
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
say "reading package lists"
apt-get --quiet=2 update

mapfile -t packages < <(missing | while read -r package; do
    if available "$package"; then echo "$package"; else say "$package is not in this release" >&2; fi
done)
if ((${#packages[@]} == 0)); then exit 0; fi

# The Firebird package would start a server on port 3050, now and at every boot; tests start their own.
readonly policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
fi
say "installing ${packages[*]}"
apt-get --quiet=2 --yes --no-install-recommends -o Dpkg::Use-Pty=0 install "${packages[@]}" >/dev/null
if [[ " ${packages[*]} " == *" firebird3.0-server "* && -d /run/systemd/system ]]; then
    systemctl --quiet disable --now firebird3.0.service
fi
say "done"
