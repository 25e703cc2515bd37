"""Judging reports: rubrics, evidence for the judge, mechanical checks, claims, failure modes."""
