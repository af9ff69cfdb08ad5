// Two runs on the same table, side by side.
import { baseName, empty, grouped, h, percent, section, significant, table } from "./dom.js";
import { get } from "./api.js";
import { scatter } from "./charts.js";

export async function showCompare(main, [one, other], signal) {
  document.title = `${one} and ${other} · dshap`;
  const [first, second, found] = await Promise.all([
    get(`/api/runs/${one}`, signal), get(`/api/runs/${other}`, signal), get(`/api/runs/${one}/compare/${other}`, signal),
  ]);
  const name = (run) => `${run.id} (${run.result.summary.method})`;
  const number = (value, digits = 3) => (value === null ? "" : value.toFixed(digits));
  const tiles = [
    ["rows in both", grouped(found.rows)], ["correlation of values", number(found.correlation)],
    ["correlation of ranks", number(found.rank_correlation)], ["lowest 5 % in common", percent(found.shared_lowest, 0)],
    ["highest 5 % in common", percent(found.shared_highest, 0)],
  ].filter(([, value]) => value !== "");
  const settings = settingsOf(first, second);
  main.replaceChildren(
    h("div", null,
      h("p", { class: "crumb" }, h("a", { href: "#/" }, "Tables and runs"), " / compare"),
      h("h1", null, `${baseName(first.request.table)}: `, h("a", { href: `#/run/${one}` }, name(first)), " and ", h("a", { href: `#/run/${other}` }, name(second))),
      h("dl", { class: "tiles" }, tiles.map(([label, value]) => h("div", null, h("dt", null, label), h("dd", null, value))))),
    settings.length > 0 ? section("settings", "What differs", null, table("Settings that differ", [["setting"], [name(first)], [name(second)]], settings)) : "",
    section("ranks", "Ranks against each other", "Rows on the diagonal have the same rank in both runs.",
      h("div", { class: "columns" }, h("div", { class: "panel" }, scatter(found.ranks, {
        title: "Share of rows below", xName: name(first), yName: name(second), words: "Cells far from the diagonal hold rows that the two runs judge differently.",
      })))),
    section("differing", "Rows that the runs rank most differently", null, found.differing.length === 0
      ? empty("Both runs rank all rows alike.")
      : table("The largest differences", [["row", true], [`value in ${one}`, true], [`value in ${other}`, true], [`above in ${one}`, true], [`above in ${other}`, true]],
        found.differing.map((row) => [grouped(row.row), significant(row.values[0]), significant(row.values[1]), percent(row.shares_below[0]), percent(row.shares_below[1])]))));
}

function settingsOf(first, second) {
  const all = (run) => ({ table: run.request.table, method: run.result.summary.method, m: run.result.summary.m, q: run.result.summary.q, ...run.request.options });
  const [one, other] = [all(first), all(second)];
  const text = (value) => (value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value));
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((key) => text(one[key]) !== text(other[key]))
    .map((key) => [key, text(one[key]), text(other[key])]);
}
