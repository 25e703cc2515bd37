"""Tools for judged answers of any family: quoting, questions, panel, exam, correction."""
