"""Certificates and the exact experimenter."""
