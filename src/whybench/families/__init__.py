"""The families: each folder has the same rooms."""
