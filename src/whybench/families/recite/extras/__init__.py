"""Optional parts of ReCITE: report, judge, analyses, preparation of papers."""
