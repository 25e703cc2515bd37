// Shows the true graph and the believed graph side by side, with one layout.

function arrowHeads(name) {
  return s(
    "defs",
    {},
    [...KINDS, "plain"].map((kind) =>
      s(
        "marker",
        {
          id: `${name}-${kind}`,
          class: `head ${kind}`,
          viewBox: "0 0 10 10",
          refX: 8.5,
          refY: 5,
          markerWidth: 7,
          markerHeight: 7,
          markerUnits: "userSpaceOnUse",
          orient: "auto-start-reverse",
        },
        s("path", { d: "M0 0.8L10 5L0 9.2z" }),
      ),
    ),
  );
}

/** One graph in its box. `pick` is called with an arrow that was clicked. */
function pane(title, layout, view, { pick, hover }) {
  const name = fresh("heads");
  const links = s("g", { class: "links" });
  const words = s("g", { class: "words" });
  const marks = new Map();
  const boxes = new Map();
  const nodes = s(
    "g",
    { class: "nodes" },
    layout.nodes.map((node) => {
      const mark = s("text", { class: "mark", y: 11 });
      const label = s("text", {}, node.text);
      const box = s(
        "g",
        {
          class: "node",
          transform: `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`,
          onmouseenter: () => hover(node.name),
          onmouseleave: () => hover(null),
        },
        s("title", {}, node.name),
        s("rect", {
          x: -node.width / 2,
          y: -node.height / 2,
          width: node.width,
          height: node.height,
          rx: 7,
        }),
        label,
        layout.marked && mark,
      );
      marks.set(node.name, [mark, label]);
      boxes.set(node.name, box);
      return box;
    }),
  );
  const frame = s(
    "svg",
    { class: layout.large ? "graph large" : "graph", role: "img", tabindex: 0 },
    arrowHeads(name),
    links,
    nodes,
    words,
  );
  view.add(frame);

  const draw = (arrows, beside) => {
    const keys = new Set(arrows.map((arrow) => arrow.key));
    const drawn = arrows.map((arrow) => {
      const points = route(layout, arrow, keys.has(keyOfArrow(arrow.effect, arrow.cause)));
      const path = curve(points);
      const told = `${arrow.cause} → ${arrow.effect}${arrow.label ? ` (${arrow.label})` : ""}`;
      const link = s(
        "g",
        { class: `link ${arrow.kind}`, "data-key": arrow.key, onclick: () => pick(arrow.key) },
        s("title", {}, `${told}: ${arrow.kind}`),
        s("path", { class: "reach", d: path }),
        s("path", { class: "way", d: path, "marker-end": `url(#${name}-${arrow.kind})` }),
      );
      return { arrow, link, points };
    });
    links.replaceChildren(...drawn.map(({ link }) => link));
    const named = !layout.worded ? [] : drawn.filter(({ arrow }) => arrow.label);
    words.replaceChildren(
      ...named.map(({ arrow, points }) => {
        const { x, y } = middle(points);
        const text = shorten(arrow.label, LABEL);
        const width = text.length * 6.2 + 8;
        return s("g", { transform: `translate(${x} ${y})` },
          s("rect", { x: -width / 2, y: -8, width, height: 16, rx: 4 }), s("text", {}, text));
      }),
    );
    for (const [node, [mark, label]] of marks) {
      mark.textContent = beside[node] == null ? "" : shorten(inWords(beside[node]), MARK);
      label.setAttribute("y", mark.textContent ? -7 : 0);
    }
    const counts = KINDS.map((kind) => [kind, arrows.filter((a) => a.kind === kind).length]);
    const parts = counts.filter(([, n]) => n).map(([kind, n]) => `${n} ${kind}`);
    const sum = `${title}: ${layout.nodes.length} nodes, ${arrows.length} arrows`;
    frame.setAttribute("aria-label", `${sum}${parts.length ? ` (${parts.join(", ")})` : ""}`);
  };

  /** Bring nodes and arrows forward; null: all alike. */
  const stress = (chosen) => {
    frame.classList.toggle("dimmed", chosen !== null);
    for (const [node, box] of boxes) box.classList.toggle("near", !!chosen?.nodes.has(node));
    for (const link of links.children) {
      link.classList.toggle("near", !!chosen?.keys.has(link.dataset.key));
    }
  };
  return { element: h("div", { class: "pane" }, h("p", { class: "pane-title" }, title), frame), draw, stress };
}

function legend() {
  const counts = new Map(KINDS.map((kind) => [kind, h("b", {}, "0")]));
  const element = h(
    "ul",
    { class: "legend", "aria-label": "Meaning of the colours and dashes of arrows" },
    KINDS.map((kind) =>
      h(
        "li",
        {},
        s("svg", { class: "sample", width: 34, height: 10, "aria-hidden": "true" },
          s("g", { class: `link ${kind}` }, s("path", { class: "way", d: "M1 5H33" }))),
        counts.get(kind),
        KIND_WORDS[kind],
      ),
    ),
  );
  const update = (arrows) => {
    for (const kind of KINDS) {
      counts.get(kind).textContent = arrows.filter((arrow) => arrow.kind === kind).length;
    }
  };
  return { element, update };
}

/** Both graphs, their legend, tools, and the list of arrows that says the same in words. */
function graphs(told, pick) {
  const layout = layOut(told);
  if (!layout.nodes.length) return null;
  const view = sharedView(layout, told.truth.length && everBelieved(told) ? 1 : 2);
  const compares = told.truth.length > 0 && everBelieved(told);
  let shown = [];
  let chosen = null;
  const stress = (value) => panes.forEach((one) => one.stress(value));
  const near = (names) => {
    const keys = new Set();
    const nodes = new Set(names);
    for (const { key, cause, effect } of shown) {
      if (!names.includes(cause) && !names.includes(effect)) continue;
      keys.add(key);
      nodes.add(cause).add(effect);
    }
    return { keys, nodes };
  };
  const hover = (name) => stress(name === null ? chosen : near([name]));
  const make = (title) => pane(title, layout, view, { pick, hover });
  const truth = told.truth.length || !everBelieved(told) ? make(told.truth.length ? "True graph" : "Nodes") : null;
  const belief = everBelieved(told) ? make(`Graph ${told.belief}`) : null;
  const panes = [truth, belief].filter(Boolean);
  const key = compares ? legend() : null;
  const list = h("ul", { class: "arrows" });
  const empty = h("p", { class: "quiet", hidden: true }, `No graph ${told.belief} yet.`);
  belief?.element.append(empty);

  const find = h("input", {
    type: "search",
    placeholder: "Find a node",
    "aria-label": "Find a node in the graphs",
    oninput: () => {
      const word = find.value.trim().toLowerCase();
      const hits = word ? layout.nodes.filter((n) => n.name.toLowerCase().includes(word)) : [];
      chosen = word ? near(hits.map((node) => node.name)) : null;
      stress(chosen);
      if (hits.length) view.centre(hits[0]);
    },
  });
  const tool = (label, sign, onclick) =>
    h("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick }, sign);

  const update = (at) => {
    const state = arrowsAt(told, at);
    const { marks, belief_marks } = at ? told.moments[at - 1] : {};
    const true_ = truthAt(told, state, compares);
    truth?.draw(true_, marks ?? {});
    belief?.draw(state.believed, { ...marks, ...belief_marks });
    empty.hidden = state.begun;
    key?.update(state.arrows);
    shown = [...state.arrows, ...true_];
    const spoken = compares || belief ? state.arrows : true_;
    list.replaceChildren(
      ...spoken.map((arrow) =>
        h("li", {},
          h("button", { type: "button", class: `arrow ${arrow.kind}`, "data-key": arrow.key, onclick: () => pick(arrow.key) },
            `${arrow.cause} → ${arrow.effect}`,
            arrow.label && h("span", { class: "quiet" }, ` ${arrow.label}`),
            arrow.kind !== "plain" && h("span", { class: "kind" }, arrow.kind))),
      ),
    );
    stress(chosen);
  };
  const select = (keys) => {
    const held = shown.filter((arrow) => keys.has(arrow.key));
    chosen = keys.size ? { keys, nodes: new Set(held.flatMap((a) => [a.cause, a.effect])) } : null;
    if (held.length) view.centre(layout.at.get(held[0].cause));
    stress(chosen);
    for (const button of list.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(keys.has(button.dataset.key)));
    }
  };
  const element = h("section", { class: "graphs", "aria-label": "Graphs" },
    h("div", { class: "bar" },
      key?.element ?? h("span", {}),
      h("div", { class: "tools" }, find,
        tool("Zoom in", "+", () => view.zoom(1.4)),
        tool("Zoom out", "−", () => view.zoom(1 / 1.4)),
        tool("Show the whole graph", "⤢", () => view.reset()))),
    h("div", { class: "panes" }, panes.map((one) => one.element)),
    h("p", { class: "quiet hint" }, "Drag to move. Click a graph, then use the wheel to zoom. Keys: + and − zoom, 0 shows the whole graph, Shift with an arrow key moves."),
    h("details", {}, h("summary", {}, "List of arrows"), list));
  return { element, update, select };
}
