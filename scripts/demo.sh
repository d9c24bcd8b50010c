#!/usr/bin/env bash
# From nothing to Parquet and a picture: makes a database, copies a table, runs the README's program in Python, and compares
# firearrow with firebird-driver and the client library, on a private server if there is one. All of it goes into demo/.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engine.sh

readonly built=${CARGO_TARGET_DIR:-target}/demo
readonly firearrow=$built/firearrow
readonly rows=${DEMO_ROWS:-200000}

# About 700 bytes a row, and as much again while it is made.
readonly needed=$((rows / 700 + 500))
if ((needed > 2048)) && [[ ${DEMO_YES:-} != 1 ]]; then
    if [[ ! -t 0 ]]; then
        echo "demo: DEMO_ROWS=$rows needs about $needed MB; DEMO_YES=1 allows it" >&2
        exit 1
    fi
    read -rp "This needs about $needed MB of disk. Go on? [y/N] " answer
    [[ $answer == [yY]* ]] || exit 1
fi
free=$(df --output=avail --block-size=1M . | tail -n 1)
if ((free < needed)); then
    echo "demo: this disk has $((free)) MB left, and the demo needs $needed MB" >&2
    exit 1
fi
say() { printf '\n%s\n\n' "$*"; }

mkdir -p demo
say "1. A database, and its table of 22 columns as a Parquet file"
if [[ ! -f demo/demo.fdb ]]; then
    # It has another name until it is complete.
    rm -f demo/part.fdb
    "$firearrow" create-demo demo/part.fdb --rows "$rows"
    mv demo/part.fdb demo/demo.fdb
fi
"$firearrow" copy demo/demo.fdb T_WIDE demo/t_wide.parquet --force
"$firearrow" query demo/demo.fdb 'SELECT ID, V16, F64, DT FROM T_WIDE ROWS 3'

say "2. The program of the README in Python"
environment=demo/venv
[[ -x $environment/bin/python ]] || python3 -m venv "$environment"
driver=$(grep '^firebird-driver==' bench/python/requirements.txt)
"$environment/bin/pip" --quiet --disable-pip-version-check install "$driver"
# The package from its sources, around the module that was built with the command.
rm -rf demo/package
mkdir demo/package
cp -r python/firearrow/src/firearrow demo/package
rm -f demo/package/firearrow/_core.abi3.so
cp "$built/libfirearrow_core.so" demo/package/firearrow/_core.abi3.so
# So that this Python finds it later, too.
echo "$PWD/demo/package" >"$("$environment/bin/python" -c 'import site; print(site.getsitepackages()[0])')/firearrow.pth"
awk '/^```/ { inside = 0 } inside { print } /^```python/ && !seen { inside = 1 } /^import firearrow$/ { seen = 1 }' README.md >demo/quickstart.py
sed 's/^/    /' demo/quickstart.py
echo
rm -f demo/shop.fdb
(cd demo && venv/bin/python quickstart.py)

# The newest server available.
server=
for version in 5.0 4.0 3.0; do
    if "$built/examples/serve" "$version" -- true 2>&1 | grep '^skipped' >/dev/null; then continue; fi
    server=$version
    break
done

export FIREARROW=$firearrow PYTHON=$environment/bin/python
LIBRARY=$("$firearrow" info --engines --json | sed -n 's/.*"library": "\(.*\)".*/\1/p' | head -n 1)
export LIBRARY
rm -rf demo/runs
if [[ -n $server ]]; then
    say "3. Reading and writing beside firebird-driver and the client library, on a private server of Firebird $server"
    # shellcheck disable=SC2016 # the variables are for the inner shell
    "$built/examples/serve" "$server" -- bash -euo pipefail -c '
        # The newest one: it takes fewer round trips for a BLOB than those before it.
        library=${LIBRARY:-$FIREARROW_CLIENT_LIBRARY}
        "$FIREARROW" create-demo "$FIREARROW_URL" --rows 20000 --quiet >/dev/null
        "$FIREARROW" bench blob "$FIREARROW_URL" --only Q1 --repeat 3 --compression off --reference-client "$library" \
            --save demo/runs >/dev/null
        "$PYTHON" bench/python/demo.py "$FIREARROW_URL" "$library" demo/runs/python demo/runs/2*/raw.jsonl'
else
    say "3. Reading and writing beside firebird-driver, on the embedded engine: there is no server here (make setup)"
    "$PYTHON" bench/python/demo.py "$PWD/demo/demo.fdb" "$LIBRARY" demo/runs/python
fi
"$firearrow" bench report demo/runs/*/raw.jsonl --title "firearrow: what make demo measured" --output demo/report.html --png demo/charts

say "4. Results"
cat <<END
  demo/report.html   the figures with charts: open it in a browser
  demo/charts        the charts as pictures
  demo/demo.fdb      the database: source .venv/bin/activate && $firearrow shell demo/demo.fdb
  demo/t_wide.parquet
  demo/venv          Python with the package: source .venv/bin/activate && (cd demo && venv/bin/python quickstart.py)
END
