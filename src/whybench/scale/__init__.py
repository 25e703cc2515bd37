"""Instances by the million: sets generated, re-checked and counted shard by shard, on Ray."""
