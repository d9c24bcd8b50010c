# shellcheck shell=bash
# Source this file: it names the engine that `make setup` installed, which firearrow does not look for on its own.
if [[ -z ${FIREARROW_ENGINE:-} ]]; then
    for folder in "$PWD"/.venv/lib/python3*/site-packages/firebird/embedded/runtime; do
        if [[ -d $folder ]]; then export FIREARROW_ENGINE=$folder; fi
    done
fi
