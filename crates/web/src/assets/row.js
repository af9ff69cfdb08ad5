// One row: why it has its value, its cells, and its owner.
import { grouped, h, loading, percent, problem, shown, significant, table } from "./dom.js";
import { get } from "./api.js";

const MEANING = {
  value: "what the row is worth",
  stderr: "standard error of the value",
  potential: "the value with a perfect target: what its position can teach",
  penalty: "what its error costs",
  correction: "what its pull on a refitted model brings or costs",
  dist_sq: "squared distance from the other rows",
  resid_sq: "squared error of the model at this row",
  prob: "probability of the positive label",
  weight: "weight in the logistic fit",
  log_density: "logarithm of the density at this row",
  relative: "the value without the constant that all rows share",
};

/** Opens the row in a dialog. Escape closes it, as in every dialog. */
export async function openRow({ run, row, neighbours }) {
  const before = document.activeElement;
  const body = h("div", { class: "body" });
  const title = h("h2", { id: "row-title" });
  const previous = h("button", { type: "button", "aria-label": "Previous row" }, "↑");
  const next = h("button", { type: "button", "aria-label": "Next row" }, "↓");
  const close = h("button", { type: "button" }, "Close");
  const dialog = h("dialog", { "aria-labelledby": "row-title" },
    h("header", null, title, h("div", { class: "row" }, previous, next, close)), body);
  const load = async (at) => {
    title.textContent = `Row ${grouped(at)}`;
    const [above, below] = neighbours(at);
    previous.disabled = above === undefined;
    next.disabled = below === undefined;
    previous.onclick = () => load(above);
    next.onclick = () => load(below);
    body.replaceChildren(loading("Loading"));
    try {
      const view = await get(`/api/runs/${run.id}/rows/${at}`);
      body.replaceChildren(...parts(view));
    } catch (error) {
      body.replaceChildren(problem(error));
    }
  };
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  await load(row);
}

function parts(view) {
  const computed = view.cells.filter((cell) => cell.is_computed && cell.cell !== null);
  const own = view.cells.filter((cell) => !cell.is_computed);
  const numbers = computed.filter((cell) => typeof cell.cell === "number");
  const note = computed.find((cell) => cell.column === "note");
  return [
    h("div", null, h("h3", null, "Why it has its value"), (view.why.length > 0 ? view.why.map(sentence) : reasons(numbers)).map((words) => h("p", null, words)),
      note && view.why.length === 0 ? h("p", { class: "note" }, `It has no value: ${note.cell}.`) : null),
    table("What was computed", [["part"], ["number", true], ["among all rows"], ["meaning"]], numbers.map((cell) => [
      cell.column, significant(cell.cell), place(cell), h("td", { class: "wrap" }, MEANING[cell.column] ?? meaningOf(cell.column)),
    ])),
    view.owner ? h("div", null, h("h3", null, "Its owner"), h("p", null,
      `${view.owner.owner} has ${grouped(view.owner.rows)} rows, whose values add up to ${significant(view.owner.sum)}; ${percent(view.owner.below_zero / view.owner.rows)} of them are below 0.`)) : null,
    own.length > 0 ? table("Its cells", [["column"], ["cell"], ["among all rows"]], own.map((cell) => [
      cell.column, cell.cell === null ? "missing" : typeof cell.cell === "number" ? shown(cell.cell) : cell.cell, place(cell),
    ])) : null,
  ].filter(Boolean);
}

/** A sentence with `code` in backticks. */
function sentence(text) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? h("code", null, part) : part));
}

function meaningOf(column) {
  if (column.startsWith("value_")) return `what the label ${column.slice(6)} contributes`;
  if (column.startsWith("prob_")) return `probability of the label ${column.slice(5)}`;
  return "";
}

function place(cell) {
  if (cell.share_below === null) return "";
  const fill = h("span");
  fill.style.width = `${100 * cell.share_below}%`;
  return h("div", null, h("div", { class: "meter", "aria-hidden": "true" }, fill), h("span", { class: "hint" }, standing(cell.share_below)));
}

function standing(share) {
  if (share === 0) return "the lowest";
  return share === 1 ? "the highest" : `above ${percent(share)}`;
}

/** Sentences from the parts of the value, where the server has none of `dshap explain`. */
function reasons(numbers) {
  const of = (name) => numbers.find((cell) => cell.column === name);
  const words = [];
  const [value, potential, penalty] = [of("value"), of("potential"), of("penalty")];
  if (value) {
    const sign = value.cell < 0 ? "The row is expected to harm: its value is below 0" : "The row is expected to help: its value is above 0";
    words.push(`${sign}. ${value.share_below ? `${percent(value.share_below)} of the rows are worth less` : "No row is worth less"}.`);
  }
  if (potential && penalty) {
    words.push(penalty.cell > potential.cell
      ? `Its error costs ${significant(penalty.cell)}, more than its position can teach (${significant(potential.cell)}). Check its target first.`
      : `Its position can teach ${significant(potential.cell)}, more than its error costs (${significant(penalty.cell)}).`);
  }
  const most = (share) => (share === 1 ? "every other row" : `${percent(share)} of the rows`);
  const [distance, residual] = [of("dist_sq"), of("resid_sq")];
  if (distance?.share_below > 0.95) words.push(`It lies farther out than ${most(distance.share_below)}, so it counts much, for good or ill.`);
  if (residual?.share_below > 0.95) words.push(`The model misses its target by more than that of ${most(residual.share_below)}.`);
  return words;
}
