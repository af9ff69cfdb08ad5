// The table of all rows: sorted, filtered and searched by the server, a page at a time.
import { announce, calmed, counted, grouped, h, problem, shown, significant } from "./dom.js";
import { get } from "./api.js";

const PAGE = 25;
const FIRST_COLUMNS = 12;

/** `onQuery` hears which rows are shown whenever that changes, `onRow` of a row that was chosen. */
export function rowGrid({ id, columns, hasNotes, signal, onQuery, onRow }) {
  const state = { offset: 0, sort: columns.some((column) => column.name === "value") ? "value" : "", search: "", ranges: new Map() };
  const computed = columns.filter((column) => column.is_computed && (hasNotes || column.name !== "note"));
  const others = columns.filter((column) => !column.is_computed);
  const visible = new Set([...computed, ...others].slice(0, FIRST_COLUMNS).map((column) => column.name));
  const place = h("div");
  const chips = h("div", { class: "row", role: "group", "aria-label": "Ranges" });
  const count = h("span", { role: "status" });
  let latest = 0;
  let lastRows = [];

  const filter = () => {
    const query = new URLSearchParams();
    for (const [column, [least, most]] of state.ranges) query.append("range", `${column}:${least ?? ""}:${most ?? ""}`);
    if (state.search) query.set("search", state.search);
    return query;
  };
  const load = async ({ isSame = false } = {}) => {
    const own = ++latest;
    const query = filter();
    if (!isSame) onQuery(query.toString());
    if (state.sort) query.set("sort", state.sort);
    query.set("offset", state.offset);
    query.set("limit", PAGE);
    for (const column of shownColumns()) query.append("columns", column.name);
    place.classList.add("busy");
    try {
      const page = await get(`/api/runs/${id}/values?${query}`, signal);
      if (own === latest) draw(page);
    } catch (error) {
      if (!signal.aborted && own === latest) place.replaceChildren(problem(error));
    } finally {
      if (own === latest) place.classList.remove("busy");
    }
  };
  const shownColumns = () => columns.filter((column) => column.name === "row" || visible.has(column.name));

  const draw = (page) => {
    const known = shownColumns();
    lastRows = page.cells.map((cells) => cells[0]);
    const head = known.map((column) => {
      const falling = state.sort === `-${column.name}`;
      const rising = state.sort === column.name;
      return h("th", { scope: "col", class: column.is_number ? "number" : null, "aria-sort": falling ? "descending" : rising ? "ascending" : null },
        h("button", { type: "button", onclick: () => sortBy(column.name) }, column.name));
    });
    const body = page.cells.map((cells) => h("tr", null, cells.map((cell, j) => {
      if (j === 0) {
        const button = h("button", { type: "button", class: "quiet", "aria-label": `Row ${cell}: why it has its value` }, grouped(cell));
        button.addEventListener("click", () => onRow(cell));
        return h("td", { class: "number" }, button);
      }
      const isNumber = typeof cell === "number";
      const words = cell === null ? "" : isNumber ? (known[j].is_computed ? significant(cell) : shown(cell)) : String(cell);
      return h("td", { class: [known[j].is_number ? "number" : "", known[j].name === "value" && cell < 0 ? "negative" : ""].join(" ").trim() || null }, words);
    })));
    const focused = place.contains(document.activeElement) ? document.activeElement.textContent : null;
    const scroller = h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Rows" },
      h("table", null, h("caption", null, "Choose a row to see why it has its value."), h("thead", null, h("tr", null, head)), h("tbody", null, body)));
    scroller.addEventListener("keydown", moveInRows);
    place.replaceChildren(page.cells.length === 0 ? h("p", { class: "empty" }, "No row matches. Remove a range, or search for something else.") : scroller, pager(page));
    if (focused !== null) [...place.querySelectorAll("th button")].find((button) => button.textContent === focused)?.focus();
    count.textContent = page.matching === page.rows ? counted(page.rows, "row") : `${grouped(page.matching)} of ${counted(page.rows, "row")}`;
  };

  // Arrow keys walk from row to row.
  const moveInRows = (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...place.querySelectorAll("td button")];
    const at = buttons.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    buttons[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  };
  const sortBy = (name) => {
    state.sort = state.sort === name ? `-${name}` : name;
    state.offset = 0;
    announce(`Sorted by ${name}, ${state.sort.startsWith("-") ? "from high to low" : "from low to high"}`);
    load({ isSame: true });
  };
  const pager = (page) => {
    const last = Math.max(0, Math.floor((page.matching - 1) / PAGE) * PAGE);
    const to = (offset) => () => {
      state.offset = Math.min(last, Math.max(0, offset));
      load({ isSame: true });
    };
    const button = (words, offset, isOff) => h("button", { type: "button", disabled: isOff, onclick: to(offset) }, words);
    const from = page.matching === 0 ? 0 : page.offset + 1;
    return h("nav", { class: "row", "aria-label": "Pages of rows" },
      button("First", 0, page.offset === 0), button("Previous", page.offset - PAGE, page.offset === 0),
      h("span", { class: "hint" }, `${grouped(from)} to ${grouped(Math.min(page.matching, page.offset + PAGE))}`),
      button("Next", page.offset + PAGE, page.offset >= last), button("Last", last, page.offset >= last));
  };

  const drawChips = () => {
    chips.replaceChildren(...[...state.ranges].map(([column, [least, most]]) => {
      const words = least === null ? `${column} ≤ ${significant(most)}` : most === null ? `${column} ≥ ${significant(least)}` : `${column} from ${significant(least)} to ${significant(most)}`;
      return h("span", { class: "chip" }, words, h("button", { type: "button", "aria-label": `Remove the range of ${column}`, onclick: () => setRange(column, null, null) }, "✕"));
    }));
  };
  const setRange = (column, least, most) => {
    if (least === null && most === null) state.ranges.delete(column);
    else state.ranges.set(column, [least, most]);
    state.offset = 0;
    drawChips();
    load();
  };

  const search = h("input", { type: "search", id: "search", placeholder: "text or row number" });
  search.addEventListener("input", calmed(250, () => {
    state.search = search.value.trim();
    state.offset = 0;
    load();
  }));
  const controls = h("div", { class: "row spread" },
    h("div", { class: "row" }, h("label", { for: "search" }, "Search"), search, count),
    h("div", { class: "row" }, rangeForm(columns, setRange), columnChooser(columns, visible, () => load({ isSame: true }))));
  const element = h("div", { class: "panel" }, controls, chips, place);
  load();
  return { element, setRange, query: () => filter().toString(), neighbours: (row) => {
    const at = lastRows.indexOf(row);
    return [lastRows[at - 1], at < 0 ? undefined : lastRows[at + 1]];
  } };
}

function rangeForm(columns, setRange) {
  const numbers = columns.filter((column) => column.is_number && column.name !== "row");
  const column = h("select", { id: "range-column" }, numbers.map((one) => h("option", null, one.name)));
  if (numbers.some((one) => one.name === "value")) column.value = "value";
  const least = h("input", { id: "range-least", type: "text", inputmode: "decimal", size: "9" });
  const most = h("input", { id: "range-most", type: "text", inputmode: "decimal", size: "9" });
  const form = h("form", { class: "row" }, h("label", { for: "range-column" }, "Column"), column,
    h("label", { for: "range-least" }, "from"), least, h("label", { for: "range-most" }, "to"), most, h("button", { type: "submit" }, "Apply"));
  const number = (input) => {
    const value = input.value.trim().replace(",", ".");
    const isWrong = value !== "" && !Number.isFinite(Number(value));
    input.setAttribute("aria-invalid", isWrong ? "true" : "false");
    return isWrong ? undefined : value === "" ? null : Number(value);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [from, to] = [number(least), number(most)];
    if (from === undefined || to === undefined) announce("A range needs numbers");
    else setRange(column.value, from, to);
  });
  return h("details", null, h("summary", null, "Filter by a range"), form);
}

function columnChooser(columns, visible, onChange) {
  const boxes = columns.filter((column) => column.name !== "row").map((column, k) => {
    const box = h("input", { type: "checkbox", id: `show-${k}` });
    box.checked = visible.has(column.name);
    box.addEventListener("change", () => {
      if (box.checked) visible.add(column.name);
      else visible.delete(column.name);
      onChange();
    });
    return h("label", { for: `show-${k}` }, box, column.name);
  });
  return h("details", null, h("summary", null, "Columns"), h("div", { class: "row" }, boxes));
}
