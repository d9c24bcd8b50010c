#!/usr/bin/env bash
# Installs what `make dist` builds with: Python packages into .venv-dist, targets of Rust. Arguments are the targets.
set -euo pipefail
cd "$(dirname "$0")/../.."

scripts/python-env.sh .venv-dist scripts/dist/requirements.txt >/dev/null

if ! command -v rustup >/dev/null; then
    # Another installation may have them, too; if it does not, the compiler says so.
    exit 0
fi
installed=$(rustup target list --installed)
for triple in "$@"; do
    grep --quiet --line-regexp --fixed-strings "$triple" <<<"$installed" || rustup target add "$triple"
done
