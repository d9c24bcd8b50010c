"""The comparison of `make demo`: firearrow beside firebird-driver, nearby and over an emulated slow link.

Usage: demo.py PLACE CLIENT_LIBRARY FOLDER [BLOBS]

PLACE is the URL of a server's database with the demo tables, or, where there is no server, the file of one. FOLDER gets
raw.jsonl. BLOBS is a record of `firearrow bench blob`, whose comparison with the client library goes into the table that is
printed. FIREARROW names the command, which emulates the link. BENCH_ROUNDS (3) is how often each is measured.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("BENCH_ROUNDS", "3")

import firearrow  # noqa: E402

from bulk import checked, same  # noqa: E402
from drivers import DbApi, FirebirdDriver, Place  # noqa: E402
from link import RATE, RTT, proxied  # noqa: E402
from measure import OURS, Sample, environment, recorded, shown  # noqa: E402

THEIRS = "firebird-driver"
NEARBY, FAR = "nearby", "over the slow link"
WIDE = 20_000
TABLE = "DEMO_ROWS"
# firebird-driver waits for the network once for each row, and several times for each BLOB.
INSERTED = {NEARBY: 3_000, FAR: 150}
BLOBS = {NEARBY: 300, FAR: 50}


def main() -> int:
    where, client, folder, *record = sys.argv[1:]
    samples: list[Sample] = []
    notes: list[str] = []
    if "://" in where:
        place = Place.of(where, client)._replace(url=where)
        with firearrow.connect(where) as near:
            engine = str(near.info["engine_version"])
            prepare(near)
            samples += compared(NEARBY, near, near, FirebirdDriver(place), notes)
            with proxied(os.environ["FIREARROW"], place) as far, firearrow.connect(far.url) as ours:
                samples += compared(FAR, near, ours, FirebirdDriver(far), notes)
        transport = f"loopback, and {RTT} and {RATE}"
    else:
        with firearrow.connect(where) as near:
            engine = str(near.info["engine_version"])
            prepare(near)
            samples += compared(NEARBY, near, near, embedded(where, client), notes)
        notes.append("nothing was measured over a slow link: there is no Firebird server here")
        transport = "an engine in the process"
    about = environment(engine, transport)
    write(Path(folder), about, samples, notes)
    print(table(about, samples, of_blobs(record[0]) if record else []))
    for note in notes:
        print(f"Not shown: {note}")
    return 0 if samples else 1


def write(folder: Path, about: dict[str, Any], samples: list[Sample], notes: list[str]) -> None:
    lines = recorded(about, samples, notes)
    lines[0]["title"] = f"firearrow beside {THEIRS}"
    for line in lines:
        if line["kind"] == "sample":
            line["case"] = line["case"].split(": ", 1)[1]
        elif line["kind"] == "table":
            line["charts"] = [{"title": f"Elapsed time, {line['title']}", "mark": "bars", "y": "wall_s"}]
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    (folder / "raw.jsonl").write_text(text, encoding="utf-8")


def of_blobs(record: str) -> list[tuple[str, str, float, str, float]]:
    """Return the comparison with the client library: where, what, our seconds, who else, its seconds."""
    seconds: dict[str, list[float]] = {}
    rows = 0.0
    for line in map(json.loads, Path(record).read_text(encoding="utf-8").splitlines()):
        if line["kind"] == "sample" and line["case"] == "not compressed":
            seconds.setdefault(line["contestant"], []).append(line["values"]["wall_s"])
            rows = line["values"].get("record_count", rows)
    others = [name for name in seconds if name.startswith("libfbclient") and "one by one" in name]
    if OURS not in seconds or not others:
        return []
    ours, theirs = (statistics.median(seconds[name]) for name in (OURS, others[0]))
    return [(FAR, f"read {rows:,.0f} short BLOBs", ours, "client library", theirs)]


def table(about: dict[str, Any], samples: list[Sample], more: list[tuple[str, str, float, str, float]]) -> str:
    """What was measured, as text: a line for each work."""
    lines: list[tuple[str, str, float, str, float]] = []
    for case in dict.fromkeys(sample["case"] for sample in samples):
        where, what = case.split(": ", 1)
        # One that failed is told in the notes.
        if {sample["driver"] for sample in samples if sample["case"] == case} != {OURS, THEIRS}:
            continue
        took = {
            driver: statistics.median(s["seconds"] for s in samples if (s["case"], s["driver"]) == (case, driver))
            for driver in (OURS, THEIRS)
        }
        lines.append((where, what, took[OURS], THEIRS, took[THEIRS]))
    places = {NEARBY: "a server on this machine", FAR: f"over an emulated link: round trip {RTT}, {RATE}/s"}
    if "process" in about["transport"]:
        places[NEARBY] = about["transport"]
    text = [f"Firebird {about['firebird']}, firearrow {about['firearrow']}, {about['machine'].split(',')[0]}; medians, values checked", ""]
    text.append(f"{'':40}{OURS:>12}{'':>14}{'':18}times as fast")
    for place, words in places.items():
        of_place = [line for line in lines + more if line[0] == place]
        if of_place:
            text.append(words)
        for _, what, ours, who, theirs in of_place:
            text.append(f"  {what:38}{shown(ours):>12}{shown(theirs):>14} {who:17}{theirs / ours:>13.3g}")
    return "\n".join(text) + "\n"


def embedded(path: str, client: str) -> DbApi:
    """firebird-driver on the engine that firearrow has told where its files are."""
    import firebird.driver

    firebird.driver.driver_config.fb_client_library.value = client
    return DbApi(firebird.driver.connect(path, user="SYSDBA", charset="UTF8"))


def prepare(connection: firearrow.Connection) -> None:
    connection.execute(f"RECREATE TABLE {TABLE} (ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION, TEXT BLOB SUB_TYPE TEXT)")
    connection.commit()


def compared(
    where: str, near: firearrow.Connection, ours: firearrow.Connection, theirs: DbApi, notes: list[str]
) -> list[Sample]:
    """Reads many columns, inserts rows and reads BLOBs. What comes back is compared each time."""
    sql = f"SELECT * FROM T_WIDE ROWS {WIDE}"
    expected = near.execute(sql).fetchall()

    def check_rows(_: str, rows: Any) -> None:
        same([tuple(row) for row in rows], expected)

    works: dict[str, Callable[[], Any]] = {OURS: lambda: ours.execute(sql).fetchall(), THEIRS: lambda: theirs(sql)}
    samples = checked(f"{where}: read {WIDE:,} rows of 22 columns", works, check_rows, WIDE, notes)

    count = INSERTED[where]
    rows = [(number, f"row_{number:04d}", float(number)) for number in range(count)]
    insert = f"INSERT INTO {TABLE} (ID, NAME, VAL) VALUES (?, ?, ?)"

    def check_inserted(_: str, __: Any) -> None:
        near.commit()
        same(near.execute(f"SELECT ID, NAME, VAL FROM {TABLE} ORDER BY ID").fetchall(), rows)
        near.execute(f"DELETE FROM {TABLE}")
        near.commit()

    def insert_ours() -> None:
        ours.executemany(insert, rows)
        ours.commit()

    works = {OURS: insert_ours, THEIRS: lambda: theirs.insert(insert, rows)}
    samples += checked(f"{where}: insert {count:,} rows", works, check_inserted, count, notes)

    texts = [(number, f"The text of {number}. " * 150) for number in range(BLOBS[where])]
    near.executemany(f"INSERT INTO {TABLE} (ID, TEXT) VALUES (?, ?)", texts)
    near.commit()
    ours.commit()
    theirs.refresh()
    query = f"SELECT ID, TEXT FROM {TABLE} ORDER BY ID"

    def check_texts(_: str, found: Any) -> None:
        same([tuple(row) for row in found], texts)

    works = {OURS: lambda: ours.execute(query).fetchall(), THEIRS: lambda: theirs(query)}
    samples += checked(f"{where}: read {len(texts):,} BLOBs of 3 KB", works, check_texts, len(texts), notes)
    ours.commit()
    theirs.close()
    near.execute(f"DELETE FROM {TABLE}")
    near.commit()
    return samples


if __name__ == "__main__":
    sys.exit(main())
