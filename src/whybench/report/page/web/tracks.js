// Shows values over the steps: bits of ambiguity, parameters of a design, distances.

const TALL = 112;
const EDGE = { left: 46, right: 14, top: 14, bottom: 20 };

/** Round values between two; whole ones if all values are whole. */
function ticksOf(low, high, whole) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  const fits = (n) => (high - low) / n <= 5 && (!whole || n >= 1);
  const size = [1, 2, 5, 10, 20].map((n) => n * step).find(fits) ?? high - low;
  const first = Math.ceil(low / size - 1e-9);
  const last = Math.floor(high / size + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * size);
}

/** A line or a staircase over moments 0…n, drawn anew when its box changes width. */
function chart({ label, values, target, stairs, sufficed, go }) {
  const known = values.map((v, at) => [at, v]).filter(([, v]) => typeof v === "number");
  const span = [...known.map(([, v]) => v), ...(typeof target === "number" ? [target] : [])];
  let [low, high] = [Math.min(...span), Math.max(...span)];
  if (stairs) low = Math.min(0, low);
  const ticks = low === high ? [low] : ticksOf(low, high, span.every(Number.isInteger));
  if (low === high) [low, high] = [low - 1, high + 1];
  const steps = values.length - 1;
  const svg = s("svg", { class: "track", role: "img", height: TALL });
  const now = s("g", { class: "now" });
  let width = 0;
  let at = 0;
  const x = (m) => EDGE.left + (steps ? (m / steps) * (width - EDGE.left - EDGE.right) : 0);
  const y = (v) => EDGE.top + ((high - v) / (high - low)) * (TALL - EDGE.top - EDGE.bottom);

  const point = () => {
    const value = values[at];
    now.replaceChildren(
      s("line", { x1: x(at), x2: x(at), y1: EDGE.top - 4, y2: TALL - EDGE.bottom }),
      ...(typeof value === "number" ? [s("circle", { cx: x(at), cy: y(value), r: 4.5 })] : []),
    );
    svg.setAttribute("aria-label", `${label}${at ? ` after step ${at}` : " at the start"}: ${inWords(value ?? null)}`);
  };
  const draw = () => {
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${TALL}`);
    let path = "";
    known.forEach(([m, v], place) => {
      if (!place) path = `M${x(m)} ${y(v)}`;
      else path += stairs ? `H${x(m)}V${y(v)}` : `L${x(m)} ${y(v)}`;
    });
    const every = Math.max(1, Math.ceil(steps / Math.max(2, width / 60)));
    const along = Array.from({ length: steps + 1 }, (_, m) => m).filter((m) => m % every === 0);
    svg.replaceChildren(
      ...ticks.map((v) => s("g", { class: "tick" },
        s("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(v), y2: y(v) }),
        s("text", { x: EDGE.left - 7, y: y(v), class: "side" }, String(Number(v.toPrecision(6)))))),
      ...along.map((m) => s("text", { x: x(m), y: TALL - 5, class: "foot" }, String(m))),
      ...(typeof target === "number" ? [s("g", { class: "target" },
        s("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y(target), y2: y(target) }))] : []),
      ...(sufficed == null ? [] : [s("g", { class: "sufficed" },
        s("line", { x1: x(sufficed), x2: x(sufficed), y1: 2, y2: TALL - EDGE.bottom }),
        s("path", { d: `M${x(sufficed) - 5} 2h10l-5 8z` }))]),
      s("path", { class: "run", d: path }),
      ...(stairs ? [] : known.map(([m, v]) => s("circle", { class: "dot", cx: x(m), cy: y(v), r: 2.2 }))),
      now,
    );
    point();
  };
  svg.addEventListener("click", (event) => {
    const place = (event.clientX - svg.getBoundingClientRect().left - EDGE.left) / (width - EDGE.left - EDGE.right);
    go(Math.round(Math.min(1, Math.max(0, place)) * steps));
  });
  const box = h("div", { class: "strip" }, svg);
  new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== width) {
      width = box.clientWidth;
      draw();
    }
  }).observe(box);
  return { element: box, update: (moment) => { at = moment; if (width) point(); } };
}

/** Words over the steps, runs of the same word as one label. */
function wordRow({ label, values, go }) {
  const runs = [];
  values.forEach((value, at) => {
    if (value == null) return;
    const last = runs[runs.length - 1];
    const word = inWords(value);
    if (last && last.word === word && last.to === at - 1) last.to = at;
    else runs.push({ word, from: at, to: at });
  });
  const labels = runs.map((run) =>
    h("li", {}, h("button", { type: "button", title: run.word, onclick: () => go(run.to) },
      h("span", { class: "when" }, run.from === run.to ? `${run.from}` : `${run.from}–${run.to}`),
      ` ${shorten(run.word, 40)}`)));
  const update = (at) => runs.forEach((run, place) => {
    const here = run.from <= at && at <= run.to;
    labels[place].firstChild.toggleAttribute("aria-current", here);
  });
  return { element: h("ol", { class: "word-row", "aria-label": `${label} by step` }, labels), update };
}

/** A name, the value last known, and the picture of all values if there are two to join. */
function track({ label, values, target, ...more }) {
  const numeric = values.every((v) => v == null || typeof v === "number");
  const enough = !numeric || values.filter((v) => v != null).length > 1;
  const made = enough ? (numeric ? chart : wordRow)({ label, values, target, ...more }) : null;
  const best = target == null ? null : h("span", { class: "best" }, ` best: ${inWords(target)}`);
  const value = h("b", {}, "");
  const name = h("p", { class: "track-name" }, `${label} `, value, best);
  return {
    element: h("div", { class: "track-box" }, name, made?.element),
    update: (at) => {
      value.textContent = inWords(values.slice(0, at + 1).findLast((v) => v != null) ?? null);
      made?.update(at);
    },
  };
}

/** The strip of ambiguity and one track per figure of the episode. */
function tracks(told, go) {
  const parts = [];
  const bits = [null, ...told.moments.map((moment) => moment.bits)];
  if (bits.some((value) => value !== null)) {
    const label = "Bits of ambiguity left";
    parts.push(track({ label, values: bits, stairs: true, sufficed: told.sufficed, go }));
  }
  const names = [...new Set(told.moments.flatMap((moment) => Object.keys(moment.figures)))];
  for (const name of names) {
    const values = [null, ...told.moments.map((moment) => moment.figures[name] ?? null)];
    parts.push(track({ label: name, values, target: told.targets[name], go }));
  }
  if (!parts.length) return null;
  return {
    element: h("section", { class: parts.length > 3 ? "tracks many" : "tracks", "aria-label": "Values by step" }, parts.map((part) => part.element)),
    update: (at) => parts.forEach((part) => part.update(at)),
  };
}
