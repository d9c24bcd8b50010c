# shellcheck shell=bash
# To be sourced: names the engine that `make setup` has installed, which is looked for nowhere by itself.
if [[ -z ${FIREARROW_ENGINE:-} ]]; then
    for folder in "$PWD"/.venv/lib/python3*/site-packages/firebird/embedded/runtime; do
        if [[ -d $folder ]]; then export FIREARROW_ENGINE=$folder; fi
    done
fi
