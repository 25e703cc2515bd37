// Lists actions and observations, step by step.

function steps(told, go) {
  if (!told.moments.length) return null;
  const items = told.moments.map((moment, place) => {
    const at = place + 1;
    const badges = [
      moment.given && h("span", { class: "badge given" }, "given"),
      moment.error && h("span", { class: "badge refused" }, "rejected"),
      told.sufficed === at && h("span", { class: "badge enough" }, "evidence sufficed"),
    ];
    return h("li", { class: moment.error ? "step error" : "step" },
      h("button", { type: "button", onclick: () => go(at) },
        h("span", { class: "count" }, String(at)),
        h("span", { class: "did" }, moment.did || "–"),
        badges),
      moment.saw && h("div", { class: "saw" }, moment.saw));
  });
  const list = h("ol", { class: "steps" }, items);
  return {
    element: h("section", { class: "doings", "aria-label": "Steps" }, h("h4", {}, "Actions and observations"), list),
    update: (at) => items.forEach((item, place) => {
      const here = place + 1 === at;
      item.classList.toggle("later", place + 1 > at);
      item.firstChild.toggleAttribute("aria-current", here);
      if (here) item.firstChild.setAttribute("aria-current", "step");
      if (here) list.scrollTop = item.offsetTop - list.clientHeight / 3;
      if (!at) list.scrollTop = 0;
    }),
  };
}
