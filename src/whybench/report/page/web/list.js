// Lists episodes, filtered by words and choices, some rows at a time; `#episode=ID` opens one.

const PAGE = 25;
const FILTERS = ["family", "suite", "system", "outcome"];
const linkTo = (id) => `#episode=${encodeURIComponent(id)}`;

function filters(change) {
  const selects = FILTERS.map((name) => {
    const values = [...new Set(index.map((row) => row[name]))].sort(collator.compare);
    return h("label", {}, name,
      h("select", { name, onchange: change }, h("option", { value: "" }, "all"),
        values.map((value) => h("option", { value: `=${value}` }, value))));
  });
  const search = h("input", { type: "search", name: "words", oninput: change });
  const element = h("form", { class: "filters", role: "search", "aria-label": "Filter the episodes", onsubmit: (event) => event.preventDefault() },
    selects, h("label", {}, "words", search));
  const wanted = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = FILTERS.map((name) => [name, element.elements[name].value]).filter(([, v]) => v);
    return index.map((row, place) => ({ row, place })).filter(({ row }) => {
      const all = `${row.id} ${row.instance} ${row.system} ${row.suite} ${row.outcome}`.toLowerCase();
      return chosen.every(([name, value]) => `=${row[name]}` === value) && words.every((word) => all.includes(word));
    });
  };
  return { element, wanted };
}

function listing() {
  const heads = ["instance", "family", "suite", "system", "outcome", "score", "steps"];
  const body = h("tbody");
  const found = h("p", { class: "quiet", role: "status" });
  const more = h("button", { type: "button", class: "tool long", onclick: () => { most += PAGE * 4; show(); } }, "Show more");
  let most = PAGE;
  let open = null;
  const chosen = filters(() => { most = PAGE; show(); });
  const show = () => {
    const rows = chosen.wanted();
    found.textContent = `${rows.length} of ${index.length} episodes`;
    more.hidden = rows.length <= most;
    body.replaceChildren(...rows.slice(0, most).map(({ row }) =>
      h("tr", row.id === open ? { class: "open" } : {},
        h("td", {}, h("a", { href: linkTo(row.id), "aria-current": row.id === open ? "true" : null },
          row.instance, row.epoch > 1 ? ` (epoch ${row.epoch})` : "")),
        h("td", {}, row.family), h("td", {}, row.suite), h("td", {}, row.system), h("td", {}, row.outcome),
        h("td", { class: "number" }, inScore(row.headline)), h("td", { class: "number" }, String(row.steps)))));
  };
  show();
  const element = h("div", { class: "card" }, chosen.element, found,
    h("div", { class: "scroll short", tabindex: 0, role: "region", "aria-label": "List of episodes" },
      h("table", {}, h("caption", { class: "unseen" }, "Episodes"),
        h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col", class: head === "score" || head === "steps" ? "number" : null }, head)))), body)),
    more);
  return { element, wanted: chosen.wanted, mark: (id) => { open = id; show(); } };
}

function neighbours(list, id) {
  const rows = list.wanted();
  const place = rows.findIndex(({ row }) => row.id === id);
  const link = (to, words) => to && h("a", { class: "tool long", href: linkTo(to.row.id) }, words);
  return h("nav", { class: "bar turn", "aria-label": "Other episodes" },
    place > 0 && link(rows[place - 1], "← Previous episode"),
    place >= 0 && link(rows[place + 1], "Next episode →"),
    h("a", { class: "tool long", href: "#episodes" }, "Close"));
}

async function follow(list) {
  const viewer = byId("page-viewer");
  const asked = /^#episode=(.*)$/.exec(location.hash);
  if (!asked) {
    if (location.hash === "#episodes" || location.hash === "") {
      viewer.replaceChildren();
      list.mark(null);
    }
    return;
  }
  let id = asked[1];
  try {
    id = decodeURIComponent(id);
  } catch {
    // a truncated link is used as it is
  }
  const place = index.findIndex((row) => row.id === id);
  list.mark(place < 0 ? null : id);
  if (place < 0) {
    viewer.replaceChildren(h("p", { class: "remark warning" }, `This page has no episode ${id}.`));
  } else {
    const told = await fetchEpisode(place);
    if (location.hash !== asked[0]) return; // the reader has opened something else meanwhile
    const opened = episode(index[place], told);
    viewer.replaceChildren(neighbours(list, id), opened.element);
    opened.start();
    viewer.dataset.episode = id;
  }
  viewer.scrollIntoView();
  viewer.querySelector("h3")?.focus({ preventScroll: true });
}

if (byId("page-list")) {
  const list = listing();
  byId("page-list").replaceChildren(list.element);
  addEventListener("hashchange", () => follow(list));
  follow(list);
}
