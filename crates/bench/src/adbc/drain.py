import json
import os
import sys
import time

import adbc_driver_manager.dbapi

library, sql = sys.argv[1:]
before = time.process_time()
with adbc_driver_manager.dbapi.connect(
    driver=library,
    entrypoint="AdbcDriverFirebirdInit",
    db_kwargs={"uri": os.environ["FIREARROW_BENCH_URL"]},
    # The same kind of transaction as in the crate it is compared with.
    conn_kwargs={
        "adbc.connection.readonly": "true",
        "adbc.connection.transaction.isolation_level": "adbc.connection.transaction.isolation.snapshot",
    },
    autocommit=True,
) as connection, connection.cursor() as cursor:
    start = time.perf_counter()
    cursor.execute(sql)
    rows = sum(batch.num_rows for batch in cursor.fetch_record_batch())
    wall = time.perf_counter() - start
json.dump({"rows": rows, "wall_s": wall, "cpu_s": time.process_time() - before}, sys.stdout)
