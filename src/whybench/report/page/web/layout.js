// Positions of nodes: computed once per episode from the true graph, shared by both graphs.

const LARGE = 30; // nodes; above it labels are shorter and links have no labels
const LABEL = 14; // characters of a link's label that are shown
const LETTERS = 90; // characters on all links; above it labels would overlap

const MARK = 18; // characters of a mark that are shown

/** The longest mark that each node ever bears, in letters. */
function markLengths(told) {
  const found = new Map();
  for (const moment of told.moments) {
    const marks = [moment.marks, moment.belief_marks].flatMap((one) => Object.entries(one));
    for (const [node, mark] of marks) {
      const size = shorten(inWords(mark), MARK).length;
      found.set(node, Math.max(found.get(node) ?? 0, size));
    }
  }
  return found;
}

function measure(nodes, marks) {
  const most = nodes.length > LARGE ? 20 : 26;
  return new Map(
    nodes.map((node) => {
      const text = shorten(node, most);
      const width = Math.max(40, text.length * 7.2 + 20, (marks.get(node) ?? 0) * 6 + 14);
      return [node, { text, width, height: marks.size ? 42 : 30 }];
    }),
  );
}

/** Links that place the nodes: the truth, and beliefs about nodes that the truth leaves alone. */
function placingLinks(told) {
  const links = new Map(told.truth.map(([a, b]) => [keyOfArrow(a, b), [a, b]]));
  const held = new Set(told.truth.flatMap(([a, b]) => [a, b]));
  for (const moment of told.moments) {
    for (const [a, b] of moment.arrows || []) {
      if (!held.has(a) || !held.has(b)) links.set(keyOfArrow(a, b), [a, b]);
    }
  }
  return [...links.values()].filter(([a, b]) => a !== b);
}

function arrange(nodes, sizes, links, rankdir, large, room) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    rankdir,
    nodesep: large ? 16 : 34,
    ranksep: 54 + (rankdir === "LR" ? room : 0),
    edgesep: 10,
    marginx: 16,
    marginy: 16,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node, { ...sizes.get(node) });
  for (const [a, b] of links) graph.setEdge(a, b);
  dagre.layout(graph);
  return graph;
}

const BOX = { width: 500, height: 440 }; // about the size of one graph's box on a wide screen

/** Downwards or to the right, whichever lets the graph be drawn larger. */
function layOut(told) {
  const nodes = allNodes(told);
  const marks = markLengths(told);
  const sizes = measure(nodes, marks);
  const large = nodes.length > LARGE;
  const links = placingLinks(told);
  const lengths = told.truth.map(([, , label]) => Math.min((label || "").length, LABEL));
  const worded = !large && lengths.reduce((sum, length) => sum + length, 0) <= LETTERS;
  const room = worded ? Math.max(0, ...lengths) * 6 : 0;
  const down = arrange(nodes, sizes, links, "TB", large, room);
  const right = arrange(nodes, sizes, links, "LR", large, room);
  const scale = (graph) =>
    Math.min(BOX.width / graph.graph().width, BOX.height / graph.graph().height, 1);
  const graph = scale(right) > scale(down) * 1.15 ? right : down;
  const layout = {
    nodes: nodes.map((name) => ({ name, ...graph.node(name) })),
    at: new Map(nodes.map((name) => [name, graph.node(name)])),
    routes: new Map(graph.edges().map((e) => [keyOfArrow(e.v, e.w), graph.edge(e).points])),
    bows: new Map(),
    large,
    worded,
    marked: marks.size > 0,
  };
  return Object.assign(layout, extent(told, layout, graph.graph()));
}

/** The space that the graph needs, with every bow of any moment. */
function extent(told, layout, { width, height }) {
  const corner = { x: Math.max(width, 60), y: Math.max(height, 60) };
  const points = [{ x: 0, y: 0 }, corner, ...[...layout.routes.values()].flat()];
  for (const moment of told.moments) {
    for (const [cause, effect] of moment.arrows || []) {
      const way = route(layout, { cause, effect }, false);
      if (layout.bows.has(keyOfArrow(cause, effect))) points.push(middle(way));
    }
  }
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)].map((least) => least - 8);
  const [right, bottom] = [Math.max(...xs), Math.max(...ys)].map((most) => most + 8);
  return { left, top, width: right - left, height: bottom - top };
}

/** Where a straight line from a node's middle towards a point leaves its box. */
function border(node, to, gap = 2) {
  const dx = to.x - node.x;
  const dy = to.y - node.y;
  if (!dx && !dy) return { x: node.x, y: node.y };
  const across = (node.width / 2 + gap) / Math.abs(dx || 1e-9);
  const down = (node.height / 2 + gap) / Math.abs(dy || 1e-9);
  const share = Math.min(across, down);
  return { x: node.x + dx * share, y: node.y + dy * share };
}

/** The points of an arrow: as laid out, the same backwards, or a gentle bow between two nodes.
 *  `mutual`: the opposite arrow is drawn too, so its way is taken. */
function route(layout, { cause, effect }, mutual) {
  const from = layout.at.get(cause);
  const to = layout.at.get(effect);
  if (cause === effect) {
    const [x, y] = [from.x + from.width / 2, from.y];
    return [{ x, y: y - 6 }, { x: x + 26, y: y - 18 }, { x: x + 26, y: y + 18 }, { x: x + 2, y: y + 6 }];
  }
  const laid = layout.routes.get(keyOfArrow(cause, effect));
  const back = laid || mutual ? null : layout.routes.get(keyOfArrow(effect, cause));
  const key = keyOfArrow(cause, effect);
  if (!laid && !back && !layout.bows.has(key)) layout.bows.set(key, bow(layout, from, to));
  const inner = (laid || (back ? [...back].reverse() : layout.bows.get(key))).slice(1, -1);
  return [border(from, inner[0], 0), ...inner, border(to, inner[inner.length - 1], 3)];
}

const BENDS = [0.12, -0.12, 0.25, -0.25, 0.4, -0.4, 0.6, -0.6];

/** A bow between two nodes, bent so that it runs through few others. */
function bow(layout, from, to) {
  const half = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  let best = null;
  for (const bend of BENDS) {
    const by = { x: half.x - dy * bend, y: half.y + dx * bend };
    const met = layout.nodes.filter((node) => crosses(node, from, by, to)).length;
    const hits = met + 2 * Math.abs(bend);
    if (!best || hits < best.hits) best = { hits, by };
  }
  return [from, best.by, to];
}

function crosses(node, from, by, to) {
  for (let t = 0.08; t < 0.95; t += 0.08) {
    const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    const x = a * from.x + b * by.x + c * to.x - node.x;
    const y = a * from.y + b * by.y + c * to.y - node.y;
    const inside = Math.abs(x) < node.width / 2 + 4 && Math.abs(y) < node.height / 2 + 4;
    const end = (node.x === from.x && node.y === from.y) || (node.x === to.x && node.y === to.y);
    if (inside && !end) return true;
  }
  return false;
}

/** A smooth path through points. */
function curve(points) {
  const f = (point) => `${point.x.toFixed(1)} ${point.y.toFixed(1)}`;
  if (points.length < 3) return `M${points.map(f).join("L")}`;
  let path = `M${f(points[0])}`;
  for (let place = 1; place < points.length - 2; place += 1) {
    const [a, b] = [points[place], points[place + 1]];
    path += `Q${f(a)} ${f({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })}`;
  }
  return `${path}Q${f(points[points.length - 2])} ${f(points[points.length - 1])}`;
}

/** A point of that path about halfway. */
function middle(points) {
  const mean = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  if (points.length === 3) return mean(mean(points[0], points[2]), points[1]);
  const place = Math.floor((points.length - 1) / 2);
  return mean(points[place], points[place + 1]);
}
