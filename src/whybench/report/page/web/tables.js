// Sorts a table when a heading is clicked; missing values always come last.

const collator = new Intl.Collator("en", { numeric: true });
const keyOf = (row, place) => {
  const cell = row.cells[place];
  return cell.dataset.key ?? cell.textContent;
};

function sortBy(head) {
  const table = head.closest("table");
  const place = head.cellIndex;
  const now = head.getAttribute("aria-sort");
  const down = now ? now === "ascending" : head.dataset.first === "descending";
  const numeric = head.classList.contains("number");
  const compare = (a, b) => (numeric ? Number(a) - Number(b) : collator.compare(a, b));
  const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, place), row]);
  rows.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return down ? compare(b, a) : compare(a, b);
  });
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button.sort");
    if (button) sortBy(button.closest("th"));
  });
}
