// Compares the believed graph at a moment with the true graph. Moment 0 is before the first step.

const KINDS = ["correct", "missing", "extra", "reversed"];
const KIND_WORDS = {
  correct: "correct",
  missing: "missing (in the true graph only)",
  extra: "extra (not in the true graph)",
  reversed: "reversed",
};
const keyOfArrow = (cause, effect) => `${cause}\u0000${effect}`;

/** All arrows at a moment, each with its kind; `begun` is true once there is a belief. */
function arrowsAt(told, at) {
  let stated = null;
  for (let place = at - 1; place >= 0 && stated === null; place -= 1) {
    stated = told.moments[place].arrows;
  }
  const begun = stated !== null;
  const all = begun
    ? stated
    : told.truth.map(([cause, effect, label]) => [cause, effect, label, "missing"]);
  const arrows = all.map(([cause, effect, label, kind]) => ({
    cause,
    effect,
    label: label || "",
    kind: told.truth.length ? kind : "plain",
    key: keyOfArrow(cause, effect),
  }));
  return { begun, arrows, believed: begun ? arrows.filter((arrow) => arrow.kind !== "missing") : [] };
}

/** The kind of each true arrow, in the order of the truth. */
function truthAt(told, state, compares) {
  const kinds = new Map(state.arrows.map((arrow) => [arrow.key, arrow.kind]));
  return told.truth.map(([cause, effect, label]) => {
    const turned = kinds.get(keyOfArrow(effect, cause)) === "reversed";
    const kind = kinds.get(keyOfArrow(cause, effect)) === "correct" ? "correct" : "missing";
    return {
      cause,
      effect,
      label: label || "",
      kind: compares ? (turned ? "reversed" : kind) : "plain",
      key: keyOfArrow(cause, effect),
    };
  });
}

/** Arrows chosen, and with each that was turned round its true or its believed self. */
function withReversed(keys, state) {
  const all = new Set(keys);
  for (const { cause, effect, key, kind } of state.arrows) {
    const turned = keyOfArrow(effect, cause);
    if (kind === "reversed" && (keys.has(key) || keys.has(turned))) all.add(key).add(turned);
  }
  return all;
}

/** Whether any moment states a graph, so that there is something to compare. */
const everBelieved = (told) => told.moments.some((moment) => moment.arrows !== null);

/** Every node of the truth and of any belief, in the order of first mention. */
function allNodes(told) {
  const nodes = new Set(told.nodes);
  for (const [cause, effect] of told.truth) nodes.add(cause).add(effect);
  for (const moment of told.moments) {
    for (const [cause, effect] of moment.arrows || []) nodes.add(cause).add(effect);
    for (const node of Object.keys({ ...moment.marks, ...moment.belief_marks })) nodes.add(node);
  }
  return [...nodes];
}
