// Sorts a table by a column, filters the longer tables, and opens everything for print. Without this script every table can still be read.
"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.number === undefined ? cell.textContent : Number(cell.dataset.number);
      };
      const order = (one, other) => {
        const [a, b] = [key(one), key(other)];
        // Empty cells stay last.
        if (a === "" || b === "") return (a === "") - (b === "");
        const by = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return falling ? -by : by;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
  if (body.rows.length >= 10 && !table.closest("details")) {
    const label = document.createElement("label");
    label.className = "filter";
    label.textContent = "Filter";
    const input = document.createElement("input");
    input.type = "search";
    label.append(input);
    table.closest(".scroll").before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }
}
// Paper cannot be opened: everything that is folded is printed.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
