"""One kit for judged answers: quoting, questions, panel, exam, correction. It names no family."""
