"""A made-up report that holds every kind of part and every kind of episode, with hostile words."""

import altair as alt
import pandas as pd

from whybench.causal.canonical import freeze
from whybench.causal.seeds import Stream
from whybench.episode.annotated import AnnotatedEpisode, Arrow, Moment, Passage
from whybench.report.palette import LIGHT
from whybench.report.section import Chapter, Figure, Remark, Report, Section, Table

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&{{7*7}}"


def figure(name: str, title: str, marks: int = 6) -> Figure:
    stream = Stream("made-up", name)
    frame = pd.DataFrame(
        {
            "family": [f"family {place}" for place in range(marks)],
            "score": [stream.uniform() for _ in range(marks)],
            "system": [("alpha", HOSTILE)[place % 2] for place in range(marks)],
        }
    )
    frame["low"], frame["high"] = frame["score"] - 0.08, frame["score"] + 0.08
    drawn = alt.Chart(frame)
    colours = alt.Color("system:N").scale(range=[LIGHT["blue"], LIGHT["vermillion"]])
    chart = drawn.mark_rule(color=LIGHT["soft"]).encode(
        x="low:Q", x2="high:Q", y="family:N"
    ) + drawn.mark_point(filled=True, size=90, clip=True).encode(
        x=alt.X("score:Q").scale(domain=[-0.2, 1.2]), y="family:N", color=colours
    )
    return Figure(
        name,
        title,
        f"Scores of {marks} families.",
        chart.properties(width=520, height=200),
        frame,
        "Bars are 95 % intervals.",
    )


def table(name: str = "scores", title: str = "Scores") -> Table:
    frame = pd.DataFrame(
        {
            "system": ["alpha", HOSTILE, "gamma"],
            "accuracy": [0.12345, None, 0.9],
            "n": [120, 12000, None],
            "valid": [True, False, True],
            "mixed": [1, "two", None],
        }
    )
    return Table(name, title, frame, "Accuracy is the share of right answers.")


def small_graph() -> AnnotatedEpisode:
    """Ten nodes, twelve moments; at the last one arrow is turned, one missing, one extra."""
    nodes = tuple(f"X{place}" for place in range(10))
    pairs = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (2, 6), (6, 7), (7, 8), (5, 9), (8, 9)]
    truth = tuple(
        Arrow(nodes[a], nodes[b], f"{0.1 * place - 0.5:.1f}") for place, (a, b) in enumerate(pairs)
    )
    moments = []
    for step in range(12):
        held = truth[: min(step, 10)]
        if step >= 11:
            held = (Arrow("X1", "X0"), *truth[1:10], Arrow("X0", "X9"))
        moments.append(
            Moment(
                did=f"set {nodes[step % 10]} to {step}",
                saw=f'{{"row": {{"X0": {step}, "X1": {step * 2}}}}}',
                error=step == 4,
                given=step < 2,
                bits=max(0.0, 9.0 - step * 1.25),
                arrows=None if step in (0, 5) else held,
                marks=freeze({nodes[step % 10]: step, "X3": "on"}),
                belief_marks=freeze({"X3": "claimed"}),
            )
        )
    return AnnotatedEpisode(
        "The agent found 9 of 11 arrows and predicted well.",
        tuple(moments),
        nodes,
        truth,
        sufficed=8,
        notes=("It committed after step 9, one step after the evidence sufficed.",),
    )


def large_graph() -> AnnotatedEpisode:
    """140 nodes and 205 arrows with cycles, as the largest of ReCITE."""
    stream = Stream("made-up", "large")
    nodes = tuple(f"variable number {place} of a long paper" for place in range(140))
    pairs = {(stream.below(place), place): None for place in range(1, 140)}
    pairs[(20, 0)] = pairs[(90, 3)] = None
    while len(pairs) < 205:
        a, b = stream.below(140), stream.below(140)
        if a < b:
            pairs[(a, b)] = None
    truth = tuple(Arrow(nodes[a], nodes[b]) for a, b in pairs)
    believed = (*truth[:120], *(Arrow(nodes[place], nodes[place + 70]) for place in range(30)))
    return AnnotatedEpisode("120 of 205.", (Moment("answer", "", arrows=believed),), nodes, truth)


def document(letters: int = 170_000) -> AnnotatedEpisode:
    """A long text with letters outside the basic plane before its passages, which overlap."""
    lead = "🜂 Rain falls 🌧. "
    said = "Rain makes the ground wet. Wet ground makes roads slow. Slow roads make us late."
    filling = "Nothing of note happened then. " * 40 + "\n\n"
    text = (lead + said + "\n\n" + filling * (letters // len(filling) + 1))[:letters]
    at = len(lead)
    wet, slow, late = (text.index(word) + len(word) for word in ("wet.", "slow.", "late."))
    truth = (Arrow("rain", "wet ground"), Arrow("wet ground", "slow"), Arrow("slow", "late"))
    return AnnotatedEpisode(
        "One of three.",
        (Moment("answer", "accepted", arrows=(truth[0], Arrow("late", "slow"))),),
        ("rain", "wet ground", "slow", "late"),
        truth,
        text=text,
        passages=(
            Passage(at, wet, (0,)),
            Passage(wet + 1, slow, (1,)),
            Passage(wet + 15, late, (2,)),
            Passage(len(text) - 40, len(text) - 10, (0, 1)),
        ),
    )


def designs() -> AnnotatedEpisode:
    """Numbers and words over the steps, no graph."""
    moments = tuple(
        Moment(
            f"try design {place}",
            f"survived {place * 10} s",
            figures=freeze({"mass": 2.0 + place * 0.3, "wing": ("short", "long")[place > 3]}),
        )
        for place in range(8)
    )
    return AnnotatedEpisode("Survived.", moments, targets=freeze({"mass": 3.2, "wing": "long"}))


def hostile() -> AnnotatedEpisode:
    return AnnotatedEpisode(
        HOSTILE,
        (
            Moment(
                HOSTILE,
                HOSTILE,
                arrows=(Arrow(HOSTILE, "b", HOSTILE),),
                marks=freeze({"b": HOSTILE}),
                figures=freeze({HOSTILE: HOSTILE}),
            ),
        ),
        (HOSTILE, "b"),
        (Arrow(HOSTILE, "b"),),
        notes=(HOSTILE,),
        text=f"<b>{HOSTILE}</b>",
        passages=(Passage(0, 12, (0,)),),
    )


def report() -> Report:
    told = {
        "small": ("causalab", small_graph()),
        "large": ("recite", large_graph()),
        "document": ("recite", document()),
        "designs": ("causalgame", designs()),
        "bare": ("causallink", AnnotatedEpisode("Nothing was done.")),
        "hostile #1/?&=%": ("replayscm", hostile()),
    }
    chapters = tuple(
        Chapter(
            name,
            family,
            f"{family}/main",
            ("alpha", HOSTILE)[place % 2],
            f"{family}-{name}",
            1,
            "correct" if place % 2 else "wrong",
            place / 5 if place else None,
            annotated.to_json(),
        )
        for place, (name, (family, annotated)) in enumerate(told.items())
    )
    return Report(
        f"Report {HOSTILE}",
        (
            Section(
                "profile",
                "Profile",
                "Where each score stands between its floor and its ceiling.",
                (
                    Remark("Prediction without understanding: alpha."),
                    Remark(f"Run `{HOSTILE}` for more."),
                    Remark(HOSTILE, "warning"),
                    figure("profile-all", "All families"),
                    table(),
                ),
            ),
            Section(
                "causalab",
                "CausaLab",
                "Prediction against mechanism.",
                (figure("frontier", f"Frontier {HOSTILE}", 12),),
                (
                    Section("sizes", "Sizes", "", (figure("by-size", "By size"), table("sizes"))),
                    Section("gaps", "Gaps", "", (figure("gap", "Gap"),)),
                ),
            ),
        ),
        chapters,
        "6 of 6 episodes can be opened.",
        {"version": "1.0", "commands": HOSTILE},
    )
