"""One self-contained page out of a `Report`, and the same tables and figures as files."""

from whybench.report.page.files import Written, write
from whybench.report.page.render import render

__all__ = ["Written", "render", "write"]
