// Tables to choose from, and runs so far.
import { baseName, counted, empty, grouped, h, announce, problem, seconds, section, size, table } from "./dom.js";
import { get, remove, tablePath, upload } from "./api.js";

const STATUS = { waiting: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled" };

export async function showHome(main, _values, signal) {
  document.title = "Tables and runs · dshap";
  const [server, tables, runs] = await Promise.all([
    get("/api/status", signal), get("/api/tables", signal), get("/api/runs", signal),
  ]);
  const runsPlace = h("div");
  const tablesPlace = h("div");
  main.replaceChildren(
    h("div", null,
      h("h1", null, "What is each row worth?"),
      h("p", { class: "lead" }, "Choose a table, say what is predicted, and see which rows help a model and which harm it. Nothing leaves this computer."),
      dropZone(server, tablesPlace)),
    section("tables", "Tables", server.has_data ? null : "Start dshap with `--data FOLDER` to list the tables of a folder.", tablesPlace),
    section("runs", "Runs", null, runsPlace));
  showTables(tablesPlace, tables);
  watchRuns(runsPlace, runs.runs, signal);
}

function dropZone(server, tablesPlace) {
  const input = h("input", { type: "file", id: "file", class: "visually-hidden", tabindex: "-1", "aria-hidden": "true" });
  const messages = h("div");
  const take = async (file) => {
    const bar = h("progress", { max: "1", value: "0", "aria-label": `Sending ${file.name}` });
    messages.replaceChildren(h("p", null, `Sending ${file.name}`), bar);
    try {
      const entry = await upload(file, (share) => { bar.value = share; });
      announce(`${file.name} was sent`);
      if (entry.name.endsWith(".dshap")) {
        messages.replaceChildren(h("p", null, `${baseName(entry.name)} can now value rows: choose a table.`));
        showTables(tablesPlace, await get("/api/tables"));
      } else {
        location.hash = `#/table/${encodeURIComponent(entry.name)}`;
      }
    } catch (error) {
      messages.replaceChildren(problem(error));
    }
  };
  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  const zone = h("div", { class: "drop" },
    h("p", null, h("strong", null, "Drop a table here")),
    h("button", { type: "button", class: "primary", onclick: () => input.click() }, "Choose a file"),
    h("p", { class: "hint" }, `CSV, NDJSON, Parquet, Arrow or NPY, up to ${size(server.upload_bytes)}. `,
      server.keeps ? "It is kept in the folder that dshap was started with." : "It is removed when dshap ends."),
    input, messages);
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  return zone;
}

function showTables(place, { tables, is_cut }) {
  if (tables.length === 0) {
    place.replaceChildren(empty("There are no tables yet. Drop one above."));
    return;
  }
  const rows = tables.map((entry) => {
    const isUpload = entry.name.startsWith("uploads/");
    const take = h("button", { type: "button", class: "quiet", "aria-label": `Remove ${entry.name}` }, "Remove");
    take.addEventListener("click", async () => {
      try {
        await remove(tablePath(entry.name));
        announce(`${entry.name} was removed`);
        showTables(place, await get("/api/tables"));
      } catch (error) {
        place.prepend(problem(error));
      }
    });
    return [
      h("a", { href: `#/table/${encodeURIComponent(entry.name)}` }, entry.name.replace(/^(data|uploads)\//, "")),
      isUpload ? "uploaded" : "folder", size(entry.bytes), isUpload ? take : "",
    ];
  });
  place.replaceChildren(
    table(`${counted(tables.length, "table")}${is_cut ? "; the folder has more" : ""}`,
      [["table"], ["from"], ["size", true], [h("span", { class: "visually-hidden" }, "action")]], rows));
}

function watchRuns(place, runs, signal) {
  const chosen = new Set();
  const draw = (all) => showRuns(place, all, chosen);
  draw(runs);
  const again = async () => {
    if (signal.aborted) return;
    try {
      const { runs: now } = await get("/api/runs", signal);
      if (JSON.stringify(now.map((run) => run.status)) !== JSON.stringify(runs.map((run) => run.status))) draw(now);
      runs = now;
    } catch {
      // The next attempt may succeed, and every other action tells what is wrong.
    }
    setTimeout(again, runs.some((run) => run.status === "running" || run.status === "waiting") ? 700 : 4000);
  };
  setTimeout(again, 700);
}

function showRuns(place, runs, chosen) {
  if (runs.length === 0) {
    place.replaceChildren(empty("No table has been valued yet."));
    return;
  }
  const button = h("button", { type: "button", disabled: true }, "Compare two runs");
  const update = () => { button.disabled = chosen.size !== 2; };
  button.addEventListener("click", () => {
    const [one, other] = [...chosen].sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)));
    location.hash = `#/compare/${one}/${other}`;
  });
  const rows = runs.map((run) => {
    const box = h("input", { type: "checkbox", "aria-label": `Compare ${run.id}`, disabled: run.status !== "done" });
    box.checked = chosen.has(run.id);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(run.id);
      else chosen.delete(run.id);
      update();
    });
    return [
      box, h("a", { href: `#/run/${run.id}` }, run.id), baseName(run.request.table),
      run.request.options.target ?? "", run.request.method ?? run.request.valuer ?? "usual method",
      h("span", { class: `tag ${run.status}` }, STATUS[run.status]),
      run.result ? grouped(run.result.rows) : "", run.status === "waiting" ? "" : seconds(run.seconds),
    ];
  });
  update();
  place.replaceChildren(
    table(counted(runs.length, "run"), [
      [h("span", { class: "visually-hidden" }, "compare")], ["run"], ["table"], ["target"], ["method"], ["status"],
      ["rows", true], ["time", true],
    ], rows),
    h("p", { class: "row" }, button, h("span", { class: "hint" }, "Tick two runs on the same table.")));
}
