"""`python -m whybench`."""

from whybench.cli import app

app()
