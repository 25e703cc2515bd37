// Shows one open episode; one slider controls all of its parts.

function controls(count, go) {
  const slider = h("input", {
    type: "range", min: 0, max: count, step: 1, "aria-label": "Step of the episode",
    oninput: () => go(Number(slider.value)),
  });
  const button = (label, sign, by) =>
    h("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick: () => go(Number(slider.value) + by) }, sign);
  const back = button("Previous step", "◀", -1);
  const on = button("Next step", "▶", 1);
  const where = h("output", { class: "where" }, "");
  const update = (at) => {
    slider.value = at;
    slider.setAttribute("aria-valuetext", at ? `step ${at} of ${count}` : "start");
    where.textContent = at ? `step ${at} of ${count}` : "start";
    back.disabled = at === 0;
    on.disabled = at === count;
  };
  return { element: h("div", { class: "controls" }, back, slider, on, where), update };
}

function facts(row, told) {
  const score = row.headline == null ? null : h("span", { class: "badge" }, `score ${inScore(row.headline)}`);
  return h("header", {},
    h("h3", { tabindex: -1 }, row.instance),
    h("p", { class: "quiet" }, [row.system, row.suite, row.epoch > 1 ? `epoch ${row.epoch}` : ""].filter(Boolean).join(" · ")),
    h("p", {}, h("span", { class: "badge" }, row.outcome), " ", score),
    h("p", { class: "verdict" }, told.verdict),
    told.sufficed != null && h("p", { class: "quiet enough-note" },
      h("span", { class: "sign-enough", "aria-hidden": "true" }, "▼ "),
      told.sufficed === 0 ? "The evidence sufficed from the start." : `The evidence sufficed after step ${told.sufficed} of ${told.moments.length}.`),
    told.notes.length > 0 && h("ul", { class: "notes" }, told.notes.map((note) => h("li", {}, note))));
}

/** An episode's element, and what shows its end once it stands in the page. Arrow keys inside it
 *  move over its steps. */
function episode(row, told) {
  const count = told.moments.length;
  let now = count;
  const go = (at) => {
    now = Math.min(count, Math.max(0, at));
    for (const part of parts) part.update?.(now);
  };
  const pick = (...keys) => {
    const chosen = withReversed(new Set(keys), arrowsAt(told, now));
    for (const part of parts) part.select?.(chosen, true);
  };
  const bar = count ? controls(count, go) : null;
  const drawn = graphs(told, pick);
  const doings = steps(told, go);
  const strips = tracks(told, go);
  const text = passages(told, pick);
  const parts = [bar, drawn, strips, doings, text].filter(Boolean);
  const element = h("article", { class: "episode", "aria-label": `Episode ${row.instance}` },
    facts(row, told), bar?.element, drawn?.element,
    h("div", { class: "below" }, doings?.element, strips?.element), text?.element);
  element.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select, .document")) return;
    event.preventDefault();
    go(now + by);
  });
  return { element, start: () => go(count) };
}
