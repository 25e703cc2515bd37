"""Stored sets: thousands or millions of instances of a suite in Parquet files.

A set is a folder or a URL (`s3://…`, `gs://…`). `plan.json` describes what the set contains.
`instances/` and `truth/` contain the shards. `manifest.json` is written last and lists their
hashes. `whybench.scale` writes sets, and this package reads them.
"""
