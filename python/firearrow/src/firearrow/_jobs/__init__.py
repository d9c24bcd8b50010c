"""What reading and writing from many machines at once needs, for Spark, Ray and Dask alike.

Reading: :mod:`.reading` divides a query, and :mod:`.snapshot` is the process that holds its snapshot when the
planner ends before the readers. Writing: :mod:`.writing` has the job that starts the processes of
:mod:`.coordinator`, one for each job, and :mod:`.keeper`, one for each process that writes. They agree
through the database alone; docs/decisions/0052 says how.
"""
