// Tables of ways: a click on a column's name sorts by it, a second turns the order round. Printed as they stand.

/** What a cell is sorted by: its figure as the document has it, else its text; nothing where it is empty. */
function sortKey(cell) {
  const figure = cell.querySelector("data");
  return figure ? Number(figure.value) : cell.textContent.trim();
}

function sortBy(table, column, down) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({row, key: sortKey(row.cells[column])}));
  rows.sort((a, b) => {
    if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");  // empty ones last, either way
    const order = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key :
                                                                           String(a.key).localeCompare(String(b.key));
    return down ? -order : order;
  });
  body.append(...rows.map(({row}) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent || table.tBodies[0].rows.length < 2) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sortBy(table, column, down);
    });
    head.replaceChildren(button);
  });
}
