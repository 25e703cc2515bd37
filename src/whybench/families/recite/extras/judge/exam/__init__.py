"""The judge's exam: papers made from gold graphs, whose right labels are known."""
