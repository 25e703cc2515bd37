"""The judge's exam: papers derived from gold graphs, with known right labels."""
