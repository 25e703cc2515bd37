"""Write a `Report` as one self-contained page, and its tables and figures as files."""

from whybench.report.page.files import Written, write
from whybench.report.page.render import render

__all__ = ["Written", "render", "write"]
