"""The published texts: download, filter and parse."""
