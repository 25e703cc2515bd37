"""What `inspect` finds by the entry point `inspect_ai`: importing a module registers its parts."""

from whybench.interfaces.inspectai import metrics, provider, scorer, solver
from whybench.interfaces.inspectai.tasks import tasks
from whybench.judge import exam, scripted
from whybench.sandbox import bubblewrap

__all__ = ["bubblewrap", "exam", "metrics", "provider", "scorer", "scripted", "solver"]

tasks()
