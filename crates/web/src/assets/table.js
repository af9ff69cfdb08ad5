// One table: its columns and their problems, and the form that starts a run.
import { baseName, empty, grouped, h, section, sentence, shown, significant, size, table } from "./dom.js";
import { get, getCatalogue, tablePath } from "./api.js";
import { runForm } from "./form.js";

export async function showTable(main, [name], signal) {
  document.title = `${baseName(name)} · dshap`;
  const [view, catalogue, tables, valuers] = await Promise.all([
    get(tablePath(name), signal), getCatalogue(), get("/api/tables", signal), get("/api/valuers", signal),
  ]);
  const n = view.rows_seen;
  const oddities = view.columns.flatMap((column) => column.problems.map((words) => `\`${column.name}\`: ${words}`));
  main.replaceChildren(
    h("div", null,
      h("p", { class: "crumb" }, h("a", { href: "#/" }, "Tables and runs"), " / ", baseName(name)),
      h("h1", null, baseName(name)),
      h("p", { class: "lead" }, `${view.is_whole ? grouped(n) : `more than ${grouped(n)}`} rows, ${view.columns.length} columns, ${size(view.bytes)}`),
      view.problems.concat(oddities).slice(0, 8).map((words) => h("p", { class: "note" }, sentence(words)))),
    section("value", "Value its rows", "Choose the column that a model would predict. Everything else has a sensible default.",
      runForm({ view, catalogue, tables: tables.tables, valuers: valuers.valuers })),
    section("columns", "Columns", view.is_whole ? null : `Counted in the first ${grouped(n)} rows.`, columnTable(view)),
    h("details", null, h("summary", null, "The first rows"), firstRows(view)));
}

function columnTable(view) {
  const rows = view.columns.map((column) => [
    column.name, column.kind, column.missing ? grouped(column.missing) : "",
    column.different === null ? "over 1000" : grouped(column.different),
    column.least === null ? "" : shown(column.least), column.mean === null ? "" : significant(column.mean),
    column.most === null ? "" : shown(column.most), column.examples.join(", "),
  ]);
  return table(`${view.columns.length} columns`,
    [["column"], ["kind"], ["missing", true], ["different", true], ["least", true], ["mean", true], ["most", true], ["such as"]], rows);
}

function firstRows(view) {
  if (view.first_rows.length === 0) return empty("There are no rows.");
  return table("The first rows", view.columns.map((column) => [column.name, column.kind === "number"]),
    view.first_rows.map((cells) => cells.map((cell) => cell ?? "")));
}
