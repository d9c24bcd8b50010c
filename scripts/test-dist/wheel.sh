#!/usr/bin/env bash
# Installs a wheel into a new environment and asks the server.
set -euo pipefail
source scripts/test-dist/common.sh "$1"

python3 -m zipfile -e "$file" "$folder/content"
check_paths "$folder/content"
check_glibc "$(find "$folder/content" -name '*.so')"
[[ $name == *"manylinux_${glibc/./_}_"* ]] || fail "its tag is not that of glibc $glibc"
if [[ $name != *_"$(uname -m)".whl ]]; then skip "content only: it is for another processor"; exit; fi

python3 -m venv "$folder/environment"
# Reads what the ADBC driver returns, which itself needs none of the Arrow libraries.
reader=()
[[ $name == firearrow-* ]] || reader=(nanoarrow)
"$folder/environment/bin/pip" --quiet --disable-pip-version-check install "$file" "${reader[@]}"
case $name in
    firearrow-*) cat >"$folder/try.py" <<'END' ;;
import os
import firearrow

with firearrow.connect(os.environ["FIREARROW_URL"], create_if_missing=True) as connection:
    assert connection.execute("SELECT 40 + 2 FROM RDB$DATABASE").fetchall() == [(42,)]
END
    *) cat >"$folder/try.py" <<'END' ;;
import os

import adbc_driver_firebird
import nanoarrow
from adbc_driver_manager import AdbcConnection, AdbcStatement

options = {"adbc.firebird.create_if_missing": "true"}
with adbc_driver_firebird.connect(os.environ["FIREARROW_URL"], options) as database:
    with AdbcConnection(database) as connection, AdbcStatement(connection) as statement:
        statement.set_sql_query("SELECT 40 + 2 FROM RDB$DATABASE")
        stream, _ = statement.execute_query()
        assert list(nanoarrow.Array(stream).iter_tuples()) == [(42,)]
END
esac
(cd "$folder" && environment/bin/python try.py)
passed "in a new environment"
