"""Prompt templates, and the code that fills them."""
