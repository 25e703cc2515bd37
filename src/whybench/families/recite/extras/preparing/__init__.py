"""Preparing users' own papers: from a PDF file and an annotated diagram to a published record."""
