"""The interface to Inspect AI: tasks, solver, scorer, metrics and a scripted provider."""
