"""Learning curves as an SVG that reads well on light and on dark pages."""

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 740, 340, 56, 112, 20, 48

STYLE = """
text { font: 13px sans-serif; fill: #3c4043 } .grid { stroke: #9aa0a6; stroke-opacity: .35 }
.mark { stroke: #5f6368; stroke-dasharray: 5 4 } path { fill: none; stroke-linejoin: round }
.seed { stroke: #00897b; stroke-opacity: .4 } .mean { stroke: #00897b; stroke-width: 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e0e3e7 } .mark { stroke: #bdc1c6 } .seed, .mean { stroke: #4db6ac } }
"""

MARKS = ((1.0, "exact 1.00"), (47 / 84, "always no 0.56"))
"""What a curve is read against: the best, and the better of the two fixed answers."""


def svg(curves: list[list[tuple[int, float]]]) -> str:
    """Draw the accuracy on causallink/core over training episodes: each seed thin, the mean bold.

    >>> svg([[(0, 0.5), (100, 0.9)]]).startswith("<svg")
    True
    """
    last = curves[0][-1][0]
    mean = [(xs[0][0], sum(y for _, y in xs) / len(xs)) for xs in zip(*curves, strict=True)]

    def x(episodes: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * episodes / last

    def y(accuracy: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - accuracy)

    def path(kind: str, curve: list[tuple[int, float]]) -> str:
        places = " L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in curve)
        return f'<path class="{kind}" d="M{places}"/>'

    def level(kind: str, accuracy: float) -> str:
        ends = f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(accuracy):.1f}" y2="{y(accuracy):.1f}"'
        return f'<line class="{kind}" {ends}/>'

    def text(across: float, down: float, words: str, anchor: str = "middle") -> str:
        return f'<text x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{words}</text>'

    parts = [level("grid", tick / 4) for tick in range(5)]
    parts += [text(LEFT - 8, y(tick / 4) + 4, f"{tick / 4:.2f}", "end") for tick in range(5)]
    parts += [text(x(last * t / 4), HEIGHT - 28, f"{last * t // 4:,}") for t in range(5)]
    parts += [text(x(last / 2), HEIGHT - 8, "training episodes")]
    for accuracy, name in MARKS:
        parts += [level("mark", accuracy), text(WIDTH - RIGHT + 6, y(accuracy) + 4, name, "start")]
    parts += [path("seed", curve) for curve in curves] + [path("mean", mean)]
    title = f"Accuracy on causallink/core while training, {len(curves)} seeds and their mean"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    return "\n".join([head, f"<title>{title}</title><style>{STYLE}</style>", *parts, "</svg>\n"])
