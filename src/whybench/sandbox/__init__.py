"""Sandboxes for programs that models write: an Inspect provider on bubblewrap, and its runner."""
