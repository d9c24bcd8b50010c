# shellcheck shell=bash
# Source this file: the packages whose tests run as Windows programs. Those of firearrow-bench compare with a program for Linux.
readonly windows_packages=(
    firearrow-proto firearrow-system firearrow-fbapi firearrow-testkit firearrow firearrow-driver firearrow-adbc firearrow-odbc
    firearrow-cli
)
