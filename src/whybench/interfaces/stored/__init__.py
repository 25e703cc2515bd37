"""Stored sets: instances of a suite in Parquet files, by the thousand or by the million.

A set is a folder or the address of one (`s3://…`, `gs://…`): `plan.json` says what it holds,
`instances/` and `truth/` hold the shards, and `manifest.json`, written last, vouches for them.
Sets are written by `whybench.scale` and read from here.
"""
