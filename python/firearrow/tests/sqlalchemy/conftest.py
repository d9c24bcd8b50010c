"""Runs SQLAlchemy's suite on each database of FIREARROW_TEST_URLS and FIREARROW_TEST_ENGINE.

FIREARROW_TEST_DIALECT is ``firearrow``, or ``firearrow_async`` for the asynchronous dialect.

The plugin of SQLAlchemy changes how pytest collects and names tests, so this folder is run by itself:
``pytest python/firearrow/tests/sqlalchemy``.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects import registry

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

if os.environ.get("FIREARROW_TEST_ENGINE"):
    os.environ["FIREARROW_ENGINE"] = os.environ["FIREARROW_TEST_ENGINE"]

# As the entry points of the installed package do.
registry.register("firebird.firearrow", "firearrow.sqlalchemy", "FirearrowDialect")
registry.register("firebird.firearrow_async", "firearrow.sqlalchemy", "FirearrowAsyncDialect")

import provision  # noqa: E402, F401
from sqlalchemy.testing.plugin import pytestplugin  # noqa: E402
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403

# Single cases of tests that no requirement guards.
LEFT_OUT = {
    r"TableViaSelectTest_.*test_without_metadata\[plain": "no CREATE TABLE AS",
    r"test_truediv_divisor\[numeric_38_digit_divisor": "DECFLOAT, which divides, has 34 digits",
    r"_3_\d.*test_truediv_divisor\[numeric_tiny": "NUMERIC with more than 18 digits came with Firebird 4",
    r"ReturningGuardsTest_.*_[34]_\d.*test_(update|delete)_single": "works for one row, but is not claimed",
}


def urls() -> list[str]:
    """Return the databases' URLs as SQLAlchemy has them."""
    driver = os.environ.get("FIREARROW_TEST_DIALECT", "firearrow")
    found = [
        f"firebird+{driver}{url.removeprefix('firebird')}{'&' if '?' in url else '?'}create_if_missing=true"
        for url in os.environ.get("FIREARROW_TEST_URLS", "").split()
    ]
    if os.environ.get("FIREARROW_TEST_ENGINE"):
        folder = Path(tempfile.mkdtemp(prefix="firearrow-suite-"))
        found.append(f"firebird+{driver}:///{folder}/suite.fdb?create_if_missing=true")
    if not found:
        pytest.exit("no database: set FIREARROW_TEST_URLS or FIREARROW_TEST_ENGINE", returncode=4)
    return found


def pytest_configure(config: Any) -> None:
    config.option.dburi = urls()
    pytestplugin.pytest_configure(config)


def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    pytestplugin.pytest_collection_modifyitems(session, config, items)
    for item in items:
        for name, reason in LEFT_OUT.items():
            if re.search(name, item.nodeid):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Count the skipped tests by their reasons: a line for each would hide what failed."""
    reasons = Counter(str(report.longrepr[2]).rpartition(" : ")[2] for report in terminalreporter.stats.get("skipped", ()))
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"SKIPPED [{count}] {reason}")
