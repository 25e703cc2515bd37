// Shows a document; passages that give true arrows are styled by whether the arrows were found.

/** Offsets count characters; strings here count 16-bit units. */
function toUnits(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => offset;
  const starts = [0];
  for (const letter of text) starts.push(starts[starts.length - 1] + letter.length);
  return (offset) => starts[Math.min(offset, starts.length - 1)];
}

/** Cut the text wherever a passage begins or ends; passages may overlap. */
function cut(text, passages) {
  const units = toUnits(text);
  const spans = passages.map(([start, end]) => [units(start), units(end)]);
  const at = [...new Set([0, text.length, ...spans.flat()])].sort((a, b) => a - b);
  const order = spans.map((_, place) => place).sort((a, b) => spans[a][0] - spans[b][0]);
  const pieces = [];
  let open = [];
  let next = 0;
  for (let place = 0; place + 1 < at.length; place += 1) {
    const [from, to] = [at[place], at[place + 1]];
    while (next < order.length && spans[order[next]][0] <= from) open.push(order[next++]);
    open = open.filter((passage) => spans[passage][1] > from);
    pieces.push({ text: text.slice(from, to), passages: [...open] });
  }
  return pieces;
}

function passages(told, pick) {
  if (told.text == null) return null;
  const marks = [];
  const keys = told.truth.map(([cause, effect]) => keyOfArrow(cause, effect));
  const arrowsOf = (places) => [...new Set(places.flatMap((p) => told.passages[p][2]))].filter((a) => a in keys);
  const body = h("div", { class: "document", tabindex: 0, role: "region", "aria-label": "Document text" },
    cut(told.text, told.passages).map((piece) => {
      if (!piece.passages.length) return piece.text;
      const arrows = arrowsOf(piece.passages);
      const mark = h("mark", { onclick: () => { here = marks.indexOf(entry); pick(...arrows.map((a) => keys[a])); } }, piece.text);
      const entry = { mark, arrows, passages: piece.passages };
      marks.push(entry);
      return mark;
    }));
  let here = -1;
  const count = h("span", { class: "quiet" }, "");
  const show = (entry) => {
    here = marks.indexOf(entry);
    body.scrollTop = entry.mark.offsetTop - body.clientHeight / 3;
    count.textContent = ` ${here + 1} of ${marks.length}`;
  };
  const turn = (by) => {
    if (!marks.length) return;
    const entry = marks[(here + by + marks.length) % marks.length];
    pick(...entry.arrows.map((a) => keys[a]));
    show(entry);
  };
  const update = (at) => {
    const compares = everBelieved(told);
    const kinds = truthAt(told, arrowsAt(told, at), compares).map((arrow) => arrow.kind);
    for (const { mark, arrows } of marks) {
      const found = arrows.filter((a) => kinds[a] === "correct").length;
      const how = !compares ? "plain" : found === arrows.length ? "found" : found ? "partly" : "missed";
      mark.className = `${how}${mark.classList.contains("chosen") ? " chosen" : ""}`;
      mark.title = arrows.map((a) => `${told.truth[a][0]} → ${told.truth[a][1]}: ${kinds[a]}`).join("\n");
    }
  };
  const select = (chosen, jump) => {
    let first = null;
    for (const entry of marks) {
      const hit = entry.arrows.some((a) => chosen.has(keys[a]));
      entry.mark.classList.toggle("chosen", hit);
      first ||= hit ? entry : null;
    }
    if (jump && first && !marks[here]?.mark.classList.contains("chosen")) show(first);
  };
  const button = (label, by) => h("button", { type: "button", class: "tool long", onclick: () => turn(by) }, label);
  const element = h("section", { class: "reading", "aria-label": "Document" },
    h("div", { class: "bar" },
      h("h4", {}, "Document"),
      marks.length > 0 && h("p", { class: "key" },
        h("mark", { class: "found" }, "arrow found"), " ", h("mark", { class: "partly" }, "found in part"), " ", h("mark", { class: "missed" }, "arrow missed")),
      marks.length > 0 && h("div", { class: "tools" }, count, button("← Passage", -1), button("Passage →", 1))),
    body);
  return { element, update, select };
}
