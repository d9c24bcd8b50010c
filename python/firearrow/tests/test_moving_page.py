"""The page for those who come from firebird-driver and fdb, docs/python-moving.md."""

from __future__ import annotations

import re

from documents import BLOCK, ROOT, check, prepared

import firearrow

PAGE = ROOT / "docs" / "python-moving.md"


def test_the_examples_of_the_page(database: str) -> None:
    code = "".join(BLOCK.findall(PAGE.read_text("utf-8")))
    assert code.count("  # -> ") >= 7 and code.count('"shop.fdb"') == 1
    names: dict[str, object] = {"check": check}
    try:
        exec(compile(prepared(code, database), PAGE.name, "exec", dont_inherit=True), names)
    finally:
        left = names.get("connection")
        if isinstance(left, firearrow.Connection):
            left.close()


def test_the_page_covers_what_the_guide_documents() -> None:
    """Each name of the guide stands in the page as code, whole, and outside of the examples."""
    text = BLOCK.sub("", PAGE.read_text("utf-8"))
    named = {name for code in re.findall(r"`([^`\n]+)`", text) for name in re.findall(r"\w+", code)}
    missing = {
        "driver_config", "create_database", "execute_immediate", "callproc", "call_procedure", "prepare",
        "set_cursor_name", "fetch_prior", "stream_blobs", "stream_blob_threshold", "get_timezone", "tpb",
        "TPB", "transaction_manager", "default_tpb", "retaining", "savepoint",
        "DistributedTransactionManager",
        "event_collector", "connect_server", "to_dict", "affected_rows", "is_closed", "ConnectionHook",
        "fetchonemap", "event_conduit", "ConnectionGroup", "db_info", "trans", "charset",
    } - named  # fmt: skip
    assert not missing
