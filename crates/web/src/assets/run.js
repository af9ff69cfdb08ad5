// One run: how far it is, and once it is done its charts, rows, owners and files.
import { baseName, counted, empty, grouped, h, announce, loading, percent, problem, seconds, section, sentence, significant, table } from "./dom.js";
import { get, post } from "./api.js";
import { histogram, scatter } from "./charts.js";
import { rowGrid } from "./grid.js";
import { openRow } from "./row.js";

const PATIENCE = 400;
// Larger tables are cleaned by the command line.
const MOST_CLEANED = 50000;

export async function showRun(main, [id], signal) {
  let run = await get(`/api/runs/${id}`, signal);
  document.title = `${id} · dshap`;
  if (run.status === "waiting" || run.status === "running") run = await watch(main, run, signal);
  if (signal.aborted) return;
  if (run.status === "done") showDone(main, run, signal);
  else showOver(main, run);
}

function heading(run) {
  const target = run.request.options.target;
  return h("div", null,
    h("p", { class: "crumb" }, h("a", { href: "#/" }, "Tables and runs"), " / ",
      h("a", { href: `#/table/${encodeURIComponent(run.request.table)}` }, baseName(run.request.table)), ` / ${run.id}`),
    h("h1", null, baseName(run.request.table), target ? `: ${target}` : ""));
}

async function watch(main, run, signal) {
  const bar = h("progress", { max: "1", "aria-label": "Progress" });
  const words = h("p", { role: "status" });
  const cancel = h("button", { type: "button" }, "Cancel");
  const messages = h("div");
  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    try {
      await post(`/api/runs/${run.id}/cancel`);
    } catch (error) {
      messages.replaceChildren(problem(error));
      cancel.disabled = false;
    }
  });
  main.replaceChildren(heading(run), h("div", { class: "panel" }, words, bar, h("p", { class: "row" }, cancel), messages));
  while (!signal.aborted && (run.status === "waiting" || run.status === "running")) {
    const progress = run.progress;
    if (run.status === "waiting") words.textContent = "Waiting for another run to end";
    else words.textContent = `${progress.stage[0].toUpperCase()}${progress.stage.slice(1)}${progress.rows ? `, ${counted(progress.rows, "row")}` : ""}, ${seconds(run.seconds)} so far`;
    if (progress?.share !== null && progress?.share !== undefined) bar.value = progress.share;
    else bar.removeAttribute("value");
    await new Promise((resolve) => setTimeout(resolve, run.seconds < 1 ? 80 : PATIENCE));
    run = await get(`/api/runs/${run.id}`, signal);
  }
  announce(`The run is ${run.status}`);
  return run;
}

function showOver(main, run) {
  const again = h("p", null, h("a", { class: "button", href: `#/table/${encodeURIComponent(run.request.table)}` }, "Change something and try again"));
  const words = run.status === "cancelled"
    ? h("p", { class: "note" }, `The run was cancelled after ${seconds(run.seconds)}. It has no values.`)
    : problem({ message: run.problem.error, hint: run.problem.hint, problems: run.problem.problems });
  main.replaceChildren(heading(run), words, again);
}

function showDone(main, run, signal) {
  const { result } = run;
  const chartsPlace = h("div", { class: "columns" }, loading("Drawing"));
  let latest = 0;
  const drawCharts = async (query) => {
    const own = ++latest;
    try {
      const charts = await get(`/api/runs/${run.id}/charts?${query}`, signal);
      if (own !== latest) return;
      const drawn = [
        charts.histogram ? histogram(charts.histogram, charts.matching, (column, least, most) => grid.setRange(column, least, most)) : null,
        ...charts.scatters.map((view) => scatter(view)),
      ].filter(Boolean).map((figure) => h("div", { class: "panel" }, figure));
      chartsPlace.replaceChildren(...(drawn.length > 0 ? drawn : [empty("There are too few different values for a chart.")]));
    } catch (error) {
      if (!signal.aborted && own === latest) chartsPlace.replaceChildren(problem(error));
    }
  };
  const grid = rowGrid({
    id: run.id, columns: result.columns, hasNotes: result.summary.values.n_without > 0, signal, onQuery: drawCharts,
    onRow: (row) => openRow({ run, row, neighbours: (at) => grid.neighbours(at) }),
  });
  main.replaceChildren(
    h("div", null, heading(run), tiles(run),
      result.warnings.map((words) => h("p", { class: "note" }, sentence(words)))),
    section("charts", "Values at a glance", "Charts and rows are linked: what you choose in one, the other shows.", chartsPlace),
    section("rows", "All rows", "Check the lowest rows for mistakes. The highest rows are those to have more of.", grid.element),
    ...(result.owner_column ? [owners(run, signal)] : []),
    section("files", "Take it with you", null, files(run, grid)),
    section("how", "How it was computed", null,
      h("ul", null, result.described.map((line) => h("li", null, sentence(line)))),
      h("pre", null, h("code", null, result.command))));
}

function tiles(run) {
  const { values, left_out_r_squared: quality, left_out_labels: labels, standing_out: standing } = run.result.summary;
  const share = (number) => (number === undefined || number === null ? "" : number.toFixed(3));
  const numbers = [
    ["rows valued", grouped(values.n_valued)],
    ["rows far below the others", standing ? grouped(standing.n_rows) : ""],
    ["median value", values.quartiles ? significant(values.quartiles[1]) : ""],
    ["R² on rows left out", share(quality)],
    ["accuracy on rows left out", share(labels?.accuracy)],
    ["log-loss on rows left out", share(labels?.log_loss)],
    ["AUC on rows left out", share(labels?.auc)],
    ["method", run.result.summary.method], ["time", seconds(run.seconds)],
  ];
  return h("dl", { class: "tiles" }, numbers.filter(([, number]) => number !== "").map(([name, number]) =>
    h("div", null, h("dt", null, name), h("dd", null, number))));
}

function owners(run, signal) {
  const place = h("div", null, loading("Adding up"));
  const budget = h("input", { id: "budget", type: "text", inputmode: "decimal", size: "10", placeholder: "100000" });
  const basis = h("select", { id: "basis" },
    h("option", { value: "rows" }, "the sum of their row values"), h("option", { value: "game" }, "what they add to each other"));
  const form = h("form", { class: "row" },
    h("label", { for: "basis" }, "Value owners by"), basis,
    h("label", { for: "budget" }, "Divide a budget of"), budget, h("button", { type: "submit" }, "Divide"));
  const load = async () => {
    const query = new URLSearchParams();
    if (budget.value.trim()) query.set("budget", budget.value.trim());
    if (basis.value === "game") query.set("game", "true");
    if (basis.value === "game") place.replaceChildren(loading("Trying coalitions of owners"));
    try {
      const view = await get(`/api/runs/${run.id}/owners?${query}`, signal);
      showOwners(place, view);
      announce(`${counted(view.count, "owner")}, valued by ${basis.selectedOptions[0].textContent}`);
    } catch (error) {
      if (!signal.aborted) place.replaceChildren(problem(error));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    load();
  });
  basis.addEventListener("change", load);
  load();
  return section("owners", "Owners", "A copied row adds as much to a sum of row values as its original. In what owners add to each other, copies share the credit, as in `dshap owners`.", form, place);
}

function showOwners(place, { owners: all, count, game }) {
  const hasPayout = all.some((owner) => owner.payout !== null);
  const hasErrors = all.some((owner) => owner.payout_stderr !== null);
  const columns = [
    ["owner", null, (owner) => owner.owner], ["rows", true, (owner) => grouped(owner.rows)],
    ...(game ? [["value given the others", true, (owner) => significant(owner.shapley)], ["standard error", true, (owner) => significant(owner.stderr)]] : []),
    ["sum of values", true, (owner) => significant(owner.sum)], ["mean value", true, (owner) => significant(owner.sum / owner.rows)],
    ["rows below 0", true, (owner) => percent(owner.below_zero / owner.rows)],
    ...(game ? [["rows another owner has too", true, (owner) => (owner.duplicates === null ? "" : grouped(owner.duplicates))]] : []),
    ...(hasPayout ? [["payout", true, (owner) => owner.payout ?? ""]] : []),
    ...(hasErrors ? [["its standard error", true, (owner) => significant(owner.payout_stderr)]] : []),
  ];
  place.replaceChildren(
    ...(game?.warnings ?? []).map((words) => h("p", { class: "note" }, sentence(words))),
    ...(game?.warnings.length ? [h("p", { class: "hint" }, sentence("`own` and `duplicates` are options of `dshap owners` on the command line."))] : []),
    table(counted(count, "owner"), columns.map(([name, isNumber]) => [name, isNumber]), all.map((owner) => columns.map(([, , cell]) => cell(owner)))),
    ...(game ? [h("p", { class: "hint" }, `All together bring ${significant(game.total)}, measured on ${counted(game.test_rows, "row")}.${game.ranking_survives === null ? "" : ` The ranking of the owners survives resampling in ${percent(game.ranking_survives, 0)} of the draws.`}`)] : []),
    ...(game?.substitutes.length ? [table("Pairs that bring less together than apart", [["owner"], ["and"], ["interaction", true]],
      game.substitutes.map((pair) => [pair.a, pair.b, significant(pair.interaction)]))] : []));
}

function files(run, grid) {
  const link = (format, words) => h("a", { class: "button", href: `/api/runs/${run.id}/values/${format}`, download: `${run.id}.${format}` }, words);
  const part = h("button", { type: "button" }, "Chosen rows as CSV");
  part.addEventListener("click", () => {
    h("a", { href: `/api/runs/${run.id}/values/csv?${grid.query()}`, download: `${run.id}-chosen.csv` }).click();
  });
  return h("div", null,
    h("p", { class: "row" }, link("csv", "Values as CSV"), link("parquet", "Values as Parquet"), part),
    h("p", { class: "row" },
      h("a", { class: "button", href: `/api/runs/${run.id}/report`, target: "_blank", rel: "noopener" }, "Open the report"),
      h("a", { class: "button", href: `/api/runs/${run.id}/report?download`, download: `${run.id}.html` }, "Save the report")),
    run.request.valuer || run.request.options.reference || !run.request.options.target || run.result.rows > MOST_CLEANED ? null : h("p", { class: "row" },
      h("a", { class: "button", href: `/api/runs/${run.id}/cleaned`, download: `${run.id}-cleaned.csv` }, "Cleaned table as CSV"),
      h("a", { class: "button", href: `/api/runs/${run.id}/cleaned?mark`, download: `${run.id}-marked.csv` }, "Table with suspicious rows marked"),
      h("span", { class: "hint" }, "As `dshap clean` writes them: the recommended action is often to keep all rows. The report says which.".replaceAll("`", ""))),
    h("p", { class: "hint" }, "The report is one page without a network. Text that a spreadsheet would run as a formula gets a ' before it in CSV files."));
}
