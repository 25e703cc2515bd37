"""ReplaySCM's section: the paper's tables and figures with the reader's systems among them."""

from __future__ import annotations

from whybench.report.families import replayscm_fit as fit
from whybench.report.families import replayscm_ladders as ladders
from whybench.report.families import replayscm_stages as stages
from whybench.report.families import replayscm_tasks as tasks
from whybench.report.families.replayscm_bits import ambiguity
from whybench.report.families.replayscm_lab import laboratory
from whybench.report.families.replayscm_rows import FAMILY, entries
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return all that the runs of ReplaySCM show, by subject."""
    listed = entries(view)
    return Section(
        FAMILY,
        "ReplaySCM",
        "Tables of zeros and ones, seen under interventions; the answer is a Boolean mechanism for "
        "every variable, run on the rows that were shown and on worlds that were not. All figures "
        "are shares of problems unless they say otherwise. Published systems were tried on other "
        "instances, with other prompts.",
        children=(
            fit.replayed(view, listed),
            ladders.disclosure(view, listed),
            ladders.support(view, listed),
            ambiguity(view, listed),
            stages.funnel(listed),
            fit.structure(view, listed),
            stages.contradictions(view, listed),
            laboratory(view, listed),
            tasks.roots(view, listed),
            tasks.alternatives(view, listed),
        ),
    )
