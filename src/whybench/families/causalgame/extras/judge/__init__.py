"""Judging of reports: rubrics, evidence packet, checks by rule, claims and failure modes."""
