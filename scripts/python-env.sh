#!/usr/bin/env bash
# Creates or updates the virtual environment in which the Python packages are built and tested, and prints its path.
# Usage: python-env.sh [FOLDER REQUIREMENTS], for another one.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly environment=${1:-.venv-python} wanted=${2:-python/tests/requirements.txt}

if ! cmp --silent "$wanted" "$environment/.requirements"; then
    echo "python: making $environment" >&2
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" --quiet --disable-pip-version-check install --requirement "$wanted" >&2
    cp "$wanted" "$environment/.requirements"
fi
echo "$PWD/$environment"
