"""A short way to write a family: an agent makes declared experiments, then gives one answer."""
