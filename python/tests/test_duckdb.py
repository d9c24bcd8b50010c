"""duckdb reads the stream on its own threads."""

import duckdb
import pyarrow as pa


def test_a_stream_is_joined_and_summed_up(cursor, connection, table):
    rows = pa.table(
        {"id": range(50_000), "grp": [n % 7 for n in range(50_000)], "name": [f"n{n}" for n in range(50_000)]}
    )
    cursor.adbc_ingest(table, rows)
    connection.commit()
    cursor.execute(f'SELECT "id", "grp", "name" FROM {table}')
    reader = cursor.fetch_record_batch()
    with duckdb.connect() as duck:
        found = duck.execute(
            'SELECT "grp", SUM("id"), MAX(LENGTH("name")) FROM reader GROUP BY 1 ORDER BY 1'
        ).fetchall()
    assert found == [(group, sum(range(group, 50_000, 7)), 6) for group in range(7)]


def test_types_are_the_same_in_duckdb(cursor, version):
    zone = ", CAST('2026-07-01 12:00 UTC' AS TIMESTAMP WITH TIME ZONE) t" if version >= 4 else ""
    cursor.execute(
        f"SELECT CAST(1.25 AS NUMERIC(9,2)) n, DATE '2026-02-03' d, TRUE b, 'ä' s, CAST(NULL AS INTEGER) i{zone} "
        "FROM RDB$DATABASE"
    )
    reader = cursor.fetch_record_batch()
    with duckdb.connect() as duck:
        relation = duck.from_arrow(reader)
        types = [str(each) for each in relation.types]
        [row] = relation.fetchall()
    assert types == ["DECIMAL(9,2)", "DATE", "BOOLEAN", "VARCHAR", "INTEGER"] + [
        "TIMESTAMP WITH TIME ZONE"
    ] * bool(zone)
    assert (str(row[0]), str(row[1]), row[2], row[3], row[4]) == ("1.25", "2026-02-03", True, "ä", None)
