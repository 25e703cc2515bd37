"""The module of the entry point `inspect_ai`. Importing it registers tasks, solvers and so on."""

from whybench.interfaces.inspectai import metrics, provider, scorer, solver
from whybench.interfaces.inspectai.tasks import tasks
from whybench.judge import exam, scripted
from whybench.sandbox import bubblewrap

__all__ = ["bubblewrap", "exam", "metrics", "provider", "scorer", "scripted", "solver"]

tasks()
