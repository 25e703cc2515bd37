"""Certificates, evidence, and the independent checker."""
