"""The options of the data source: those of Spark's JDBC source, some more, and firearrow's for connections."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .. import _core
from .._jobs.place import Place
from .._jobs.writing import Target
from .._names import nearest
from ..errors import InterfaceError, ProgrammingError

__all__ = ["Options"]

# Options of the JDBC source that have no effect here: rows come in batches anyway, and parts are page ranges of the
# table.
_WITHOUT_MEANING = frozenset(
    "driver fetchsize batchsize prefertimestampntz partitioncolumn lowerbound upperbound truncate refreshkrb5config "
    "pushdownpredicate pushdownaggregate pushdownlimit pushdownoffset pushdowntablesample".split()
)
# Of the JDBC source, and what to do instead: ignoring them would change what happens.
_ELSEWHERE = {
    "isolationlevel": "a job reads one snapshot, and writes all or nothing",
    "createtableoptions": "create the table first",
    "createtablecolumntypes": "create the table first, or give textLength",
    "customschema": "use .schema(…)",
    "preparequery": "write the WITH clause into the query",
    "cascadetruncate": "rows are deleted with DELETE",
}
_OURS = (
    "url",
    "dbtable",
    "query",
    "columns",
    "numPartitions",
    "snapshotTimeout",
    "withoutSnapshot",
    "where",
    "parameters",
    "sessionInitStatement",
    "queryTimeout",
    "offsetColumn",
    "startingOffset",
    "mode",
    "key",
    "textLength",
    "lockTimeout",
)
# Seconds that Firebird can wait for a lock.
_LONGEST_WAIT = 32_767
_FOLDED = {name.lower(): name for name in _OURS}
_NAME = r'(?:\w[\w$]*|"(?:[^"]|"")+")'
_TABLE = re.compile(rf"\s*(?:{_NAME}\s*\.\s*)?({_NAME})\s*")
_SUBQUERY = re.compile(rf"\s*\((.*)\)(?:\s+(?:AS\s+)?{_NAME})?\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Options:
    """The parsed options."""

    place: Place
    table: str | None
    """A table or view, as SQL names it."""
    query: str | None
    columns: tuple[str, ...]
    parts: int
    idle: float
    without_snapshot: bool
    where: str | None
    parameters: tuple[Any, ...]
    offset_column: str | None
    starting_offset: int | None
    upserts: bool
    key: tuple[str, ...]
    text: int | None
    lock_timeout: float

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """Parse the options.

        Raises
        ------
        InterfaceError
            One is missing, unknown or has an impossible value.
        """
        ours: dict[str, str] = {}
        further: dict[str, Any] = {}
        for name, value in given.items():
            folded = name.lower()
            if folded in _FOLDED:
                ours[_FOLDED[folded]] = value
            elif folded in _ELSEWHERE:
                raise InterfaceError(
                    f"the option {name} of the JDBC source is not supported: {_ELSEWHERE[folded]}"
                )
            elif folded == "path":
                raise InterfaceError("load() and save() take no path: name the table with the option dbtable")
            elif folded not in _WITHOUT_MEANING:
                further[folded] = value
        url = ours.get("url")
        if not url:
            raise InterfaceError(
                "the option url is missing, such as firebird://host/path or jdbc:firebird://host/path"
            )
        try:
            _core.check_options(url, further, None)
        except InterfaceError as error:
            found = next((name for name in further if repr(name) in str(error)), "")
            if found and (ours_like := nearest(found, _OURS)):
                raise InterfaceError(f"there is no option {found!r}; is {ours_like!r} meant?") from error
            raise
        table, query = _source(ours.get("dbtable"), ours.get("query"))
        where = ours.get("where")
        if where and query is not None:
            raise InterfaceError("write the condition into the query: the option where is for dbtable")
        mode = ours.get("mode", "").lower()
        if mode not in ("", "upsert"):
            raise InterfaceError(
                "the option mode accepts only upsert; otherwise use .mode('append') or .mode('overwrite')"
            )
        return cls(
            place=Place(
                url,
                further,
                ours.get("sessionInitStatement"),
                _number(ours, "queryTimeout", 0) or None,
            ),
            table=table,
            query=query,
            columns=_list(ours.get("columns")),
            parts=_whole(ours, "numPartitions", 0),
            idle=_number(ours, "snapshotTimeout", 900),
            without_snapshot=_switch(ours, "withoutSnapshot", False),
            where=where,
            parameters=_parameters(ours.get("parameters")),
            offset_column=ours.get("offsetColumn"),
            starting_offset=_whole(ours, "startingOffset", 0, least=None)
            if "startingOffset" in ours
            else None,
            upserts=mode == "upsert",
            key=_list(ours.get("key")),
            text=_whole(ours, "textLength", 0) or None,
            lock_timeout=_number(ours, "lockTimeout", 300, most=_LONGEST_WAIT),
        )

    def target(self, overwrite: bool) -> Target:
        """What a job writes."""
        if self.table is None:
            raise InterfaceError("name the table to write with the option dbtable")
        if self.upserts and overwrite:
            raise InterfaceError("an upsert is written with .mode('append') and the option mode=upsert")
        mode = "overwrite" if overwrite else "upsert" if self.upserts else "append"
        return Target(self.place, self.table, mode, self.key, self.text, self.lock_timeout)


def _source(table: str | None, query: str | None) -> tuple[str | None, str | None]:
    if (table is None) == (query is None):
        raise InterfaceError("give either the option dbtable (a table or view) or query (a SELECT), not both")
    if table is None:
        assert query is not None
        return None, query.strip().rstrip(";")
    if _TABLE.fullmatch(table):
        return table.strip(), None
    # JDBC users write (SELECT …) alias.
    if (found := _SUBQUERY.fullmatch(table)) and _is_balanced(found[1]):
        return None, found[1].strip()
    raise ProgrammingError(f"dbtable must be a table's name or (SELECT …) alias, not {table!r}")


def _is_balanced(sql: str) -> bool:
    """Whether parentheses are balanced."""
    depth = 0
    for character in re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "", sql):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _parameters(text: str | None) -> tuple[Any, ...]:
    """Values for the question marks of the query or the condition, as a list in JSON."""
    if text is None:
        return ()
    try:
        found = json.loads(text, parse_float=Decimal)
    except ValueError:
        found = None
    if not isinstance(found, list) or any(isinstance(value, list | dict) for value in found):
        raise InterfaceError(
            f'the option parameters must be a list of values in JSON, such as [1, "FR"], not {text!r}'
        )
    return tuple(found)


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def _number(
    ours: Mapping[str, str], name: str, default: float, least: float | None = 0, most: float = 2**63
) -> float:
    text = ours.get(name)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    # NaN is not equal to itself.
    if number != number or (least is not None and number < least) or abs(number) > most:
        raise InterfaceError(
            f"the option {name} must be a number{f' of at least {least}' if least is not None else ''}, not {text!r}"
        )
    return int(text) if re.fullmatch(r"[+-]?\d+", text.strip()) else number


def _whole(ours: Mapping[str, str], name: str, default: int, least: int | None = 0) -> int:
    number = _number(ours, name, default, least)
    if not isinstance(number, int):
        raise InterfaceError(f"the option {name} must be a whole number, not {ours[name]!r}")
    return number


def _switch(ours: Mapping[str, str], name: str, default: bool) -> bool:
    text = ours.get(name, str(default)).lower()
    if text not in ("true", "false"):
        raise InterfaceError(f"the option {name} must be true or false, not {text!r}")
    return text == "true"
