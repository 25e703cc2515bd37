// Shows the values of a mark on hover, or with the arrow keys if the chart has focus.

const tip = byId("page-tip");
const LONG = /(\d\.\d{3})\d+/g; // Vega writes twelve digits; three are enough to read

function showTip(mark) {
  const box = mark.getBoundingClientRect();
  const lines = mark.getAttribute("aria-label").split("; ");
  tip.replaceChildren(...lines.map((line) => h("div", {}, line.replace(LONG, "$1"))));
  tip.hidden = false;
  const wide = tip.offsetWidth;
  const left = Math.min(Math.max(8, box.left + box.width / 2 - wide / 2), innerWidth - wide - 8);
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
}

const hideTip = () => {
  tip.hidden = true;
  document.querySelector(".picked")?.classList.remove("picked");
};

const DRAWN = ".role-mark [aria-label], .role-mark[aria-label]";

for (const picture of document.querySelectorAll(".picture")) {
  let place = -1;
  picture.addEventListener("mouseover", (event) => {
    const mark = event.target.closest(DRAWN);
    if (mark) showTip(mark);
    else hideTip();
  });
  picture.addEventListener("mouseleave", hideTip);
  picture.addEventListener("blur", hideTip);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const marks = [...picture.querySelectorAll(DRAWN)];
    if (event.key === "Escape") hideTip();
    if (!step || !marks.length) return;
    event.preventDefault();
    place = (place + step + marks.length) % marks.length;
    hideTip();
    marks[place].classList.add("picked");
    marks[place].scrollIntoView({ block: "nearest", inline: "nearest" });
    showTip(marks[place]);
  });
}
