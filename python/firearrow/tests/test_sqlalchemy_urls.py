"""URLs and entry points of the dialect firebird+firearrow."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import sqlalchemy as sa
import tomllib
from engines import url
from sqlalchemy.dialects import registry

from firearrow.sqlalchemy import FirearrowAsyncDialect, FirearrowDialect
from firearrow.sqlalchemy.url import arguments


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("firebird+firearrow://host/alias", "firebird://host/alias"),
        ("firebird+firearrow://host//data/x.fdb", "firebird://host//data/x.fdb"),
        ("firebird+firearrow://host///data/x.fdb", "firebird://host//data/x.fdb"),
        ("firebird+firearrow://host:3051//data/x.fdb", "firebird://host:3051//data/x.fdb"),
        ("firebird+firearrow://[::1]:3051//data/x.fdb", "firebird://[::1]:3051//data/x.fdb"),
        ("firebird+firearrow:////data/x.fdb", "firebird:////data/x.fdb"),
        ("firebird+firearrow://///data/x.fdb", "firebird:////data/x.fdb"),
        ("firebird+firearrow:///shop.fdb", "firebird:///./shop.fdb"),
        ("firebird+firearrow:///C:/data/x.fdb", "firebird:///C:/data/x.fdb"),
        ("firebird+firearrow://host//data/100% x.fdb", "firebird://host//data/100%25%20x.fdb"),
        (
            "firebird+firearrow://host/alias?wire_crypt=required&session_time_zone=%2B02:00",
            "firebird://host/alias?wire_crypt=required&session_time_zone=%2B02%3A00",
        ),
    ],
)
def test_url_becomes_an_address(text: str, address: str) -> None:
    assert arguments(sa.make_url(text)) == ([address], {})


def test_url_has_login_and_typed_options() -> None:
    given = (
        "firebird+firearrow://me:se%40cret@h/a?"
        "autocommit=true&read_only=false&lock_timeout=1.5&isolation=read_committed&role=R"
    )
    address, options = arguments(sa.make_url(given))
    assert address == ["firebird://h/a?role=R"]
    assert options == {
        "user": "me",
        "password": "se@cret",
        "autocommit": True,
        "read_only": False,
        "lock_timeout": 1.5,
        "isolation": "read_committed",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("firebird+firearrow://host", "no database"),
        ("firebird+firearrow://host/a?role=x&role=y", "more than once"),
        ("firebird+firearrow://host/a?autocommit=perhaps", "true or false"),
        ("firebird+firearrow://host/a?lock_timeout=soon", "number of seconds"),
    ],
)
def test_impossible_urls_are_refused(text: str, message: str) -> None:
    with pytest.raises(sa.exc.ArgumentError, match=message):
        arguments(sa.make_url(text))


def test_url_may_not_name_code_to_run(database: str) -> None:
    engine = sa.create_engine(url(database, client_library="/tmp/library"))
    with pytest.raises(sa.exc.InterfaceError, match="client_library"):
        engine.connect()


def test_entry_points_name_what_there_is() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]
    for driver, dialect in (("firearrow", FirearrowDialect), ("firearrow_async", FirearrowAsyncDialect)):
        module, name = points["sqlalchemy.dialects"][f"firebird.{driver}"].split(":")
        assert getattr(import_module(module), name) is dialect
    assert callable(import_module(points["alembic.plugins"]["firearrow"]).setup)
    assert registry.load("firebird.firearrow") is FirearrowDialect
