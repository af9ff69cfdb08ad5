// The form that starts a run, made from the catalogue of methods and options.
import { baseName, h, problem, sentence } from "./dom.js";
import { post } from "./api.js";

const TASKS = [["regression", "a number"], ["classification", "a label"], ["density", "nothing: how rows are distributed"]];
const KINDS = [["closed-form", "Closed form"], ["bound", "Bounds"], ["drawing", "By drawing sets"], ["baseline", "Baselines"]];
// These have a place of their own in the form.
const FIRST = new Set(["target", "task"]);
const DAILY = ["exclude", "id", "by", "missing", "stderr", "reference", "m", "ridge"];

export function runForm({ view, catalogue, tables, valuers }) {
  const state = { task: "", method: "" };
  const messages = h("div");
  const about = h("div", { class: "hint" });
  const options = h("div");
  const columns = view.columns.map((column) => column.name);
  const target = h("select", { id: "o-target" },
    h("option", { value: "" }, "choose a column"),
    view.columns.map((column) => h("option", { value: column.name, disabled: column.task === null }, column.name)));
  const task = h("select", { id: "o-task" },
    h("option", { value: "" }, "guess from the column"), TASKS.map(([name, words]) => h("option", { value: name }, `${name} (${words})`)));
  const method = h("select", { id: "o-method" });
  const valuer = valuers.length === 0 ? null : h("select", { id: "o-valuer" },
    h("option", { value: "" }, "none"), valuers.map((entry) => h("option", { value: entry.name }, baseName(entry.name))));

  const taskNow = () => task.value || (target.value ? view.columns.find((column) => column.name === target.value)?.task : null) || "regression";
  const update = () => {
    state.task = taskNow();
    const fitting = catalogue.methods.filter((entry) => entry.tasks.includes(state.task));
    const usual = catalogue.defaults[state.task];
    const before = method.value;
    method.replaceChildren(...KINDS.map(([kind, label]) => {
      const own = fitting.filter((entry) => entry.kind === kind);
      return own.length === 0 ? "" : h("optgroup", { label }, own.map((entry) =>
        h("option", { value: entry.name }, entry.name === usual ? `${entry.name} (usual)` : entry.name)));
    }));
    method.value = fitting.some((entry) => entry.name === before) ? before : usual;
    target.disabled = state.task === "density" && task.value === "density";
    updateMethod();
  };
  const updateMethod = () => {
    state.method = method.value;
    const entry = catalogue.methods.find((one) => one.name === state.method);
    about.replaceChildren(...sentence(entry.summary));
    const kept = collect(options);
    options.replaceChildren(...optionFields(catalogue, entry, state.task, { columns, tables, own: view.name }));
    restore(options, kept);
  };
  target.addEventListener("change", update);
  task.addEventListener("change", update);
  method.addEventListener("change", updateMethod);

  const start = h("button", { type: "submit", class: "primary" }, "Value the rows");
  const form = h("form", { class: "panel", novalidate: true },
    h("div", { class: "fields" },
      field("o-target", "Target", target, "The column to predict"),
      field("o-task", "Task", task, "What is predicted"),
      field("o-method", "Method", method, about),
      valuer ? field("o-valuer", "Saved valuer", valuer, "Value by an earlier fit instead of these rows") : null),
    options, messages, h("p", { class: "row" }, start));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    messages.replaceChildren();
    const byValuer = valuer?.value;
    if (!byValuer && !target.value && taskNow() !== "density") {
      messages.replaceChildren(problem({ message: "no target is chosen", hint: "choose the column to predict, or the task `density`" }));
      target.focus();
      return;
    }
    const request = { table: view.name, options: collect(options) };
    if (byValuer) {
      request.valuer = byValuer;
    } else {
      request.method = method.value;
      if (!target.disabled && target.value) request.options.target = target.value;
      if (task.value) request.options.task = task.value;
    }
    start.disabled = true;
    try {
      const run = await post("/api/runs", request);
      location.hash = `#/run/${run.id}`;
    } catch (error) {
      messages.replaceChildren(problem(error));
    } finally {
      start.disabled = false;
    }
  });
  // The last column is the most common target of tables in the wild.
  const last = view.columns.findLast((column) => column.task !== null);
  if (last) target.value = last.name;
  update();
  // Columns that cannot be features are set aside.
  restore(options, {
    id: view.columns.find((column) => column.suggested === "id" && column !== last)?.name,
    exclude: view.columns.filter((column) => column.suggested === "exclude" && column !== last).map((column) => column.name),
  });
  return form;
}

/** Fields of all options that the method takes, daily ones first. */
function optionFields(catalogue, method, task, known) {
  const taken = new Map(method.options.map((takes) => [takes.option, takes]));
  const isTaken = (option) => {
    if (option.scope === "always" || option.scope === "fit") return true;
    return taken.get(option.name)?.tasks.includes(task);
  };
  const offered = catalogue.options.filter((option) => !FIRST.has(option.name) && isTaken(option));
  const daily = offered.filter((option) => DAILY.includes(option.name));
  const others = offered.filter((option) => !DAILY.includes(option.name));
  const make = (option) => optionField(option, taken.get(option.name), known);
  return [
    h("div", { class: "fields" }, daily.map(make)),
    h("details", null, h("summary", null, `All options (${others.length} more)`),
      catalogue.groups.map(({ name, heading }) => {
        const own = others.filter((option) => option.group === name);
        return own.length === 0 ? null : h("fieldset", null, h("legend", null, heading), h("div", { class: "fields" }, own.map(make)));
      })),
  ];
}

/** `{metric}` and `{metric=cosine}` in texts of the catalogue. */
function spelled(text) {
  return text.replace(/\{(\w+)(?:=([^}]*))?\}/g, (_, name, value) => (value ? `\`${name}\` = \`${value}\`` : `\`${name}\``));
}

function label(name) {
  const words = name.replaceAll("_", " ");
  return words.length <= 1 ? words : words[0].toUpperCase() + words.slice(1);
}

function optionField(option, takes, known) {
  const id = `o-${option.name}`;
  const hint = spelled(takes?.role || option.help);
  const own = takes && takes.default !== null && typeof takes.default !== "object" ? String(takes.default) : "";
  const usual = spelled(own || option.default || "");
  const control = controlOf(option, takes, id, usual, known);
  control.dataset.option = option.name;
  if (option.kind === "switch") {
    return h("div", { class: "field" }, h("label", { for: id }, control, label(option.name)), h("small", null, sentence(hint)));
  }
  return field(id, label(option.name), control, hint);
}

function field(id, name, control, hint) {
  const words = typeof hint === "string" ? sentence(hint) : hint;
  control.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "field" }, h("label", { for: id }, name), control, h("small", { id: `${id}-hint` }, words));
}

function controlOf(option, takes, id, usual, known) {
  const placeholder = usual.replaceAll("`", "");
  const nothing = h("option", { value: "" }, placeholder || "none");
  if (option.kind === "switch") return h("input", { type: "checkbox", id });
  if (option.kind === "choice") {
    const words = option.words.filter((word) => !takes?.words || takes.words.includes(word.word));
    return h("select", { id }, nothing, words.map((word) => h("option", { value: word.word }, `${word.word}: ${word.means}`)));
  }
  const isColumn = option.placeholder === "COLUMN" || option.placeholder === "A,B";
  if (isColumn && option.kind === "text") {
    return h("select", { id }, nothing, known.columns.map((name) => h("option", null, name)));
  }
  if (isColumn) {
    return h("select", { id, multiple: true, size: String(Math.min(4, known.columns.length)) }, known.columns.map((name) => h("option", null, name)));
  }
  if (option.kind === "files") {
    const others = known.tables.filter((entry) => entry.name !== known.own);
    return h("select", { id, multiple: true, size: "3" }, others.map((entry) => h("option", { value: entry.name }, entry.name)));
  }
  const isCount = option.kind === "count";
  return h("input", { id, type: "text", inputmode: isCount ? "numeric" : option.kind === "number" ? "decimal" : null, placeholder, autocomplete: "off" });
}

/** What was filled in, by name. */
function collect(place) {
  const values = {};
  for (const control of place.querySelectorAll("[data-option]")) {
    const name = control.dataset.option;
    if (control.type === "checkbox") {
      if (control.checked) values[name] = true;
    } else if (control.multiple) {
      const chosen = [...control.selectedOptions].map((option) => option.value);
      if (chosen.length > 0) values[name] = chosen;
    } else if (control.value.trim() !== "") {
      values[name] = control.value.trim();
    }
  }
  return values;
}

/** Fills in again what still has a field. */
function restore(place, values) {
  for (const control of place.querySelectorAll("[data-option]")) {
    const value = values[control.dataset.option];
    if (value === undefined) continue;
    if (control.type === "checkbox") control.checked = true;
    else if (control.multiple) for (const option of control.options) option.selected = value.includes(option.value);
    else control.value = value;
  }
}
