#!/usr/bin/env bash
# From nothing to Parquet and a report: creates a database with the embedded engine, copies a table, measures fetching, runs the
# README's program in Python, and draws what came out beside firebird-driver and the client library.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engine.sh

readonly firearrow=${CARGO_TARGET_DIR:-target}/release/firearrow
readonly rows=${DEMO_ROWS:-1000000}

mkdir -p demo
if [[ ! -f demo/demo.fdb ]]; then
    # It has another name until it is complete.
    rm -f demo/part.fdb
    "$firearrow" create-demo demo/part.fdb --rows "$rows"
    mv demo/part.fdb demo/demo.fdb
fi
"$firearrow" copy demo/demo.fdb T_WIDE demo/t_wide.parquet --force
rm -rf demo/runs
"$firearrow" bench fetch demo/demo.fdb --repeat "${DEMO_REPEAT:-3}" --save demo/runs

printf '\nThe Python package: the program of the README\n\n'
wheel=$(scripts/build-firearrow-wheel.sh | tail -n 1)
environment=demo/venv
[[ -x $environment/bin/python ]] || python3 -m venv "$environment"
driver=$(grep '^firebird-driver==' bench/python/requirements.txt)
"$environment/bin/pip" --quiet --disable-pip-version-check install --force-reinstall --no-deps "$wheel"
"$environment/bin/pip" --quiet --disable-pip-version-check install "$driver"
awk '/^```/ { inside = 0 } inside { print } /^```python/ && !seen { inside = 1 } /^import firearrow$/ { seen = 1 }' README.md >demo/quickstart.py
sed 's/^/    /' demo/quickstart.py
echo
rm -f demo/shop.fdb
(cd demo && venv/bin/python quickstart.py)

printf '\n'
BENCH_ROUNDS=${DEMO_ROUNDS:-5} "$environment/bin/python" bench/python/demo.py "$PWD/demo/demo.fdb" \
    "$FIREARROW_ENGINE/libfbclient.so.2" demo/runs/python
"$firearrow" bench report demo/runs/python demo/runs/2* --title "firearrow: what make demo measured" --output demo/report.html
printf '\nThe same with charts: %s\n' "$PWD/demo/report.html"
