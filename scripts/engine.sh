# shellcheck shell=bash
# To be sourced: names the engine that `make setup` has installed, which is looked for nowhere by itself.
if [[ -z ${FIREARROW_ENGINE:-} ]]; then
    for FIREARROW_ENGINE in "$PWD"/.venv/lib/python3*/site-packages/firebird/embedded/runtime; do :; done
    export FIREARROW_ENGINE
fi
