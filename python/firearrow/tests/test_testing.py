"""The pytest plugin, run by pytest in pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import firearrow

if sys.version_info >= (3, 11):
    import tomllib

pytest_plugins = ["pytester"]

ENGINE = os.environ.get("FIREARROW_TEST_ENGINE")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> str:
    if not ENGINE:
        pytest.skip("the plugin needs an embedded engine: set FIREARROW_TEST_ENGINE")
    monkeypatch.setenv("FIREARROW_ENGINE", ENGINE)
    return ENGINE


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.Pytester]:
    """A folder with tests of a user."""
    package = str(Path(firearrow.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]))
    # Whether or not the package was installed with its entry point.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    yield pytester


def play(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # A process of its own: one process can hold one engine.
    return suite.runpytest_subprocess(
        "-p", "firearrow.testing", "-p", "no:cacheprovider", *arguments, timeout=120
    )


def test_each_test_has_a_database_of_its_own(engine: str, suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import os, time
        import pytest, firearrow

        paths = []

        @pytest.fixture(scope="session")
        def firebird_schema():
            return '''
                CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(20));
                CREATE PROCEDURE twice (n INT) RETURNS (r INT) AS BEGIN r = n * 2; SUSPEND; END;
                INSERT INTO item VALUES (1, 'one;');
            '''

        @pytest.mark.parametrize("turn", range(3))
        def test_fresh(firebird_database, firebird_connection, turn):
            assert os.path.exists(firebird_database)
            assert not any(os.path.exists(path) for path in paths)
            assert firebird_database not in paths
            paths.append(firebird_database)
            assert firebird_connection.execute("SELECT id, name FROM item").fetchall() == [(1, "one;")]
            assert firebird_connection.execute("SELECT r FROM twice(21)").fetchone() == (42,)
            firebird_connection.execute("DELETE FROM item")
            firebird_connection.commit()
            # Another connection to the same database sees it.
            with firearrow.connect(firebird_database) as other:
                assert other.execute("SELECT COUNT(*) FROM item").fetchone() == (0,)

        def test_without_connection(firebird_database):
            with firearrow.connect(firebird_database) as connection:
                assert connection.execute("SELECT COUNT(*) FROM item").fetchone() == (1,)

        def test_time(firebird_templates, firebird_schema):
            times = []
            for _ in range(20):
                start = time.perf_counter()
                firebird_templates.copy(firebird_schema)
                times.append(time.perf_counter() - start)
            assert sorted(times)[10] < 0.1, times
    """)
    play(suite, "-W", "error").assert_outcomes(passed=5)


def test_schemas_of_every_kind(engine: str, suite: pytest.Pytester) -> None:
    count = "SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$SYSTEM_FLAG = 0"
    for name, schema in {
        "nothing": "return None",
        "script": "return 'CREATE TABLE a (n INT); CREATE TABLE b (n INT)'",
        "statements": "return ['CREATE TABLE a (n INT)', 'CREATE TABLE b (n INT)']",
        "function": """
            def fill(connection):
                connection.execute("CREATE TABLE a (n INT)")
                connection.commit()
                connection.execute("INSERT INTO a VALUES (1)")
            return fill""",
    }.items():
        folder = suite.mkdir(name)
        (folder / f"test_{name}.py").write_text(f"""
import pytest

@pytest.fixture(scope="session")
def firebird_schema():
            {schema}

@pytest.mark.parametrize("turn", range(2))
def test_it(firebird_connection, firebird_database, turn):
    tables = {{"nothing": 0, "function": 1}}.get("{name}", 2)
    assert firebird_connection.execute("{count}").fetchone() == (tables,)
    assert "template" not in firebird_database
""")
    play(suite).assert_outcomes(passed=8)


def test_templates_are_made_once(engine: str, suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import pytest

        made = []

        @pytest.fixture(scope="session")
        def firebird_schema():
            return lambda connection: made.append(connection.info["engine_version"])

        @pytest.mark.parametrize("turn", range(3))
        def test_it(firebird_connection, firebird_templates, turn):
            assert len(made) == 1
            (template,) = firebird_templates._folder.glob("template*")
            assert template.stem.endswith(made[0])
    """)
    play(suite).assert_outcomes(passed=3)


def test_a_wrong_schema_says_which_statement(engine: str, suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import pytest

        @pytest.fixture(scope="session")
        def firebird_schema():
            return "CREATE TABLE a (n INT); CREATE TABEL b (n INT)"

        def test_it(firebird_connection):
            pass
    """)
    result = play(suite)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["firebird_schema: Dynamic SQL Error", "CREATE TABEL b (n INT)"])


def test_without_an_engine_the_error_says_what_to_install(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREARROW_ENGINE", str(suite.path / "nothing"))
    suite.makepyfile("""
        def test_it(firebird_connection):
            pass

        def test_other():
            pass
    """)
    result = play(suite)
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(['*pip install "firearrow[[]embedded]"*'])


def test_a_test_that_leaves_a_connection_open_harms_no_other(engine: str, suite: pytest.Pytester) -> None:
    suite.makepyfile("""
        import firearrow

        left = []

        def test_leaves(firebird_database):
            left.append(firearrow.connect(firebird_database))
            left[0].execute("CREATE TABLE a (n INT)")

        def test_next(firebird_connection):
            firebird_connection.execute("CREATE TABLE a (n INT)")
            firebird_connection.commit()
            left[0].close()
    """)
    play(suite).assert_outcomes(passed=2)


ASYNCHRONOUS = {
    "anyio": ("anyio.pytest_plugin", "pytest.mark.anyio", "async "),
    "pytest-asyncio": ("pytest_asyncio.plugin", "pytest.mark.asyncio", "async "),
    "none": ("no:anyio", "[]", ""),
}


@pytest.mark.parametrize("plugin", ASYNCHRONOUS)
def test_an_asynchronous_connection_in_any_loop(engine: str, suite: pytest.Pytester, plugin: str) -> None:
    name, mark, prefix = ASYNCHRONOUS[plugin]
    suite.makepyfile(f"""
        import asyncio
        import pytest
        from firearrow import aio

        pytestmark = {mark}

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.fixture(scope="session")
        def firebird_schema():
            return "CREATE TABLE item (id INT PRIMARY KEY); INSERT INTO item VALUES (1)"

        async def work(connection, path, turn):
            cursor = await connection.execute("SELECT id FROM item")
            assert await cursor.fetchall() == [(1,)]
            await connection.execute("INSERT INTO item VALUES (?)", (turn,))
            await connection.commit()
            async with aio.connect(path) as other:
                cursor = await other.execute("SELECT id FROM item ORDER BY id")
                assert await cursor.fetchall() == [(1,), (turn,)]
            # Left open, and never committed.
            await connection.execute("DELETE FROM item")

        @pytest.mark.parametrize("turn", [2, 3])
        {prefix}def test_it(firebird_aio_connection, firebird_database, turn):
            made = work(firebird_aio_connection, firebird_database, turn)
            {"await made" if prefix else "asyncio.run(made)"}
    """)
    options = ("-o", "asyncio_default_fixture_loop_scope=function") if plugin == "pytest-asyncio" else ()
    result = play(suite, "-p", name, "-W", "error", *options)
    result.assert_outcomes(passed=2)


@pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="the test reads pyproject.toml with tomllib, which needs Python 3.11 or newer",
)
def test_the_entry_point_names_the_plugin() -> None:
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    points = tomllib.loads(project.read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    assert points == {"firearrow": "firearrow.testing"}


def test_the_plugin_loads_no_engine_by_itself() -> None:
    """It is imported by every run of pytest in an environment with firearrow."""
    program = (
        "import sys, firearrow.testing\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'pyarrow', 'pandas', 'numpy', 'polars'}))\n"
        "print('libEngine' in open('/proc/self/maps').read() if sys.platform == 'linux' else False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["[]", "False"]
