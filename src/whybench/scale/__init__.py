"""Millions of instances: generate, check and count stored sets shard by shard, on Ray."""
