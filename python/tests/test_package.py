"""The package itself: library, options, manifest."""

import os
import subprocess
import sys
from pathlib import Path

import adbc_driver_firebird
import adbc_driver_manager.dbapi
import pytest
from adbc_driver_firebird import ConnectionOptions, DatabaseOptions, dbapi

ROOT = Path(__file__).resolve().parents[2]


def test_the_library_is_in_the_package():
    path = Path(adbc_driver_firebird._driver_path())
    assert path.is_file()
    assert path.parent == Path(adbc_driver_firebird.__file__).parent


def test_polars_takes_the_version_for_a_new_one():
    major, minor = adbc_driver_firebird.__version__.split(".")[:2]
    assert (int(major), int(minor)) >= (0, 8)


def test_names_of_options_are_those_of_the_driver():
    script = ROOT / "scripts/python-options.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_options_that_do_not_exist_are_refused(uri):
    with adbc_driver_firebird.connect(uri) as database:
        with pytest.raises(adbc_driver_manager.NotSupportedError):
            database.set_options(**{"adbc.firebird.no_such_option": "1"})


def test_options_reach_the_driver(uri):
    options = {DatabaseOptions.TYPE_DECIMAL_PRECISION.value: "storage"}
    read_only = {ConnectionOptions.READONLY.value: "true"}
    with dbapi.connect(uri, options, read_only) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CAST(1 AS NUMERIC(10,2)) FROM RDB$DATABASE")
        assert str(cursor.fetch_arrow_table().schema.field(0).type) == "decimal128(18, 2)"
        with pytest.raises(dbapi.ProgrammingError) as found:
            cursor.execute("CREATE TABLE no_such (a INTEGER)")
        assert found.value.sqlstate == "25006"


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": ""}
    command = [sys.executable, "-m", "adbc_driver_firebird", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_managers_find_the_driver_by_its_manifest(uri, tmp_path, monkeypatch):
    done = run(tmp_path, "install-manifest", "--user")
    manifest = tmp_path / ".config/adbc/drivers/firebird.toml"
    assert (done.returncode, done.stdout) == (0, f"written: {manifest}\n")
    assert f'shared = "{adbc_driver_firebird._driver_path()}"' in manifest.read_text("utf-8")
    monkeypatch.setenv("ADBC_DRIVER_PATH", str(manifest.parent))
    # The scheme of the URI is the name of the manifest.
    for arguments in [{"driver": "firebird", "uri": uri}, {"uri": uri}]:
        with adbc_driver_manager.dbapi.connect(**arguments) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 7 FROM RDB$DATABASE")
            assert cursor.fetchone() == (7,)
    assert run(tmp_path, "install-manifest").returncode == 0
    assert run(tmp_path, "uninstall-manifest").returncode == 0
    assert not manifest.exists()
    done = run(tmp_path, "uninstall-manifest")
    assert done.returncode == 1
    assert "error: " in done.stderr


def test_the_manifest_of_another_driver_is_left_alone(tmp_path):
    manifest = tmp_path / ".config/adbc/drivers/firebird.toml"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('[Driver]\nshared = "/other.so"\n', "utf-8")
    for command in ["install-manifest", "uninstall-manifest"]:
        done = run(tmp_path, command, "--user")
        assert done.returncode == 1
        assert "another driver" in done.stderr
    assert "/other.so" in manifest.read_text("utf-8")


def test_the_environment_has_a_place_for_manifests():
    from adbc_driver_firebird import _manifest

    path = Path(sys.prefix) / "etc/adbc/drivers/firebird.toml"
    assert not path.exists()
    done = run(Path.home(), "install-manifest", "--venv")
    try:
        assert (done.returncode, path.is_file()) == (0, True)
    finally:
        _manifest.uninstall(path.parent)
