// Charts as drawings, each with its numbers in a table beside it.
import { counted, grouped, h, s, sentence, significant, table } from "./dom.js";

const WIDTH = 420;
const HEIGHT = 250;
const EDGE = { left: 60, right: 12, top: 10, bottom: 42 };
const COLOURS = ["#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00"];
const DASHES = [null, "7 4", null, "7 4", null];

/** Round numbers between two limits. */
function ticks(least, most, about = 5) {
  const width = most - least;
  if (!(width > 0)) return [least];
  const raw = width / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
  const found = [];
  for (let k = Math.ceil(least / step); k * step <= most + step * 1e-9; k += 1) found.push(k * step);
  return found;
}

function short(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e5 || size < 1e-3) return number.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return String(Number(number.toPrecision(4)));
}

/** A place for a drawing: scales, axes and their names. */
function frame({ x, y, xName, yName, logX = false }) {
  const [left, right] = [EDGE.left, WIDTH - EDGE.right];
  const [bottom, top] = [HEIGHT - EDGE.bottom, EDGE.top];
  const to = logX ? Math.log10 : (number) => number;
  const across = (number) => left + ((to(number) - to(x[0])) / (to(x[1]) - to(x[0]) || 1)) * (right - left);
  const back = (place) => x[0] + ((place - left) / (right - left)) * (x[1] - x[0]);
  const up = (number) => bottom - ((number - y[0]) / (y[1] - y[0] || 1)) * (bottom - top);
  const xTicks = logX
    ? Array.from({ length: 16 }, (_, k) => 10 ** k).filter((number) => number >= x[0] && number <= x[1])
    : ticks(x[0], x[1]);
  const axes = s("g", { "aria-hidden": "true" },
    xTicks.map((number) => [
      s("line", { class: "axis", x1: across(number), x2: across(number), y1: top, y2: bottom }),
      s("text", { x: across(number), y: bottom + 15, "text-anchor": "middle" }, short(number)),
    ]),
    ticks(y[0], y[1], 4).map((number) => [
      s("line", { class: "axis", x1: left, x2: right, y1: up(number), y2: up(number) }),
      s("text", { x: left - 6, y: up(number) + 4, "text-anchor": "end" }, short(number)),
    ]),
    s("text", { x: (left + right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xName),
    s("text", { x: 12, y: (top + bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + bottom) / 2})` }, yName));
  return { across, up, back, left, right, bottom, top, axes };
}

function figure(name, words, drawing, numbers, more) {
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", `${name}. ${words}`);
  return h("figure", null, h("h3", null, name), drawing, h("figcaption", null, sentence(words)), more ?? null,
    h("details", null, h("summary", null, "The numbers"), numbers));
}

/** All rows in quiet bars, matching rows in strong ones. Drag across to choose a range. */
export function histogram(view, matching, onRange) {
  const most = Math.max(...view.rows, 1);
  const place = frame({ x: [view.least, view.most], y: [0, most * 1.05], xName: view.column, yName: "rows" });
  const width = (view.most - view.least) / view.rows.length;
  const bar = (count, bin, kind) => count === 0 ? null : s("rect", {
    class: kind, x: place.across(view.least + bin * width) + 0.5, y: place.up(count),
    width: Math.max(0.5, place.across(view.least + (bin + 1) * width) - place.across(view.least + bin * width) - 1),
    height: place.bottom - place.up(count),
  });
  const brush = s("rect", { class: "brush", y: place.top, height: place.bottom - place.top, x: 0, width: 0 });
  const zero = view.least < 0 && view.most > 0
    ? s("line", { class: "zero", x1: place.across(0), x2: place.across(0), y1: place.top, y2: place.bottom }) : null;
  const drawing = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, place.axes,
    view.rows.map((count, bin) => bar(count, bin, "all")), view.matching.map((count, bin) => bar(count, bin, "part")), zero, brush);
  brushed(drawing, brush, place, (least, most) => onRange(view.column, least, most));
  const [below, above] = view.outside;
  const far = below + above > 0 ? ` ${grouped(below)} further left and ${grouped(above)} further right are not drawn.` : "";
  const total = view.rows.reduce((sum, count) => sum + count, 0) + below + above;
  const chosen = matching < total ? `${counted(matching, "row")} of ${grouped(total)} chosen, in strong colour. ` : "";
  const words = `${chosen}Drag across the chart to choose a range.${far}`;
  const numbers = table("Rows by value", [["from", true], ["to", true], ["rows", true], ["chosen", true]],
    view.rows.map((count, bin) => [significant(view.least + bin * width), significant(view.least + (bin + 1) * width), grouped(count), grouped(view.matching[bin])]));
  return figure("Distribution of values", words, drawing, numbers);
}

function brushed(drawing, brush, place, done) {
  let start = null;
  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    return Math.min(place.right, Math.max(place.left, x));
  };
  drawing.addEventListener("pointerdown", (event) => {
    start = at(event);
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const now = at(event);
    brush.setAttribute("x", Math.min(start, now));
    brush.setAttribute("width", Math.abs(now - start));
  });
  drawing.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [from, to] = [start, at(event)].sort((a, b) => a - b);
    start = null;
    brush.setAttribute("width", 0);
    if (to - from > 3) done(place.back(from), place.back(to));
  });
  drawing.addEventListener("pointercancel", () => { start = null; });
}

const NAMES = {
  dist_sq: "squared distance", resid_sq: "squared residual", prob: "probability", log_density: "log density",
  potential: "potential", value: "value",
};

const SEEN = {
  dist_sq: "Rows far from the others teach more, if their targets are right.",
  resid_sq: "Rows that the model predicts badly are worth less.",
  prob: "Rows that the model is sure about teach it little.",
  log_density: "Rows where others are rare add more to the estimate.",
  potential: "The potential is what a row would be worth with a perfect target.",
};

/** Rows in the cells of a grid: the darker, the more rows. */
export function scatter(view, { xName, yName, title, words } = {}) {
  const names = [xName ?? NAMES[view.x] ?? view.x, yName ?? NAMES[view.y] ?? view.y];
  const place = frame({ x: view.x_range, y: view.y_range, xName: names[0], yName: names[1] });
  const [across, up] = view.size;
  const most = Math.max(...view.cells.map((cell) => cell[2]), 1);
  const width = (place.right - place.left) / across;
  const height = (place.bottom - place.top) / up;
  const cells = view.cells.map(([i, j, count]) => s("rect", {
    class: "cell", x: place.left + i * width, y: place.bottom - (j + 1) * height, width: width + 0.4, height: height + 0.4,
    "fill-opacity": (0.18 + 0.82 * Math.log1p(count) / Math.log1p(most)).toFixed(3),
  }));
  const drawing = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, place.axes, cells);
  const outside = view.outside > 0 ? ` ${counted(view.outside, "row")} further out ${view.outside === 1 ? "is" : "are"} not drawn.` : "";
  return figure(title ?? `Value against ${names[0]}`, (words ?? SEEN[view.x] ?? "") + outside, drawing, gridNumbers(view, names));
}

/** The grid in a few lines: rows and the middle of the other number. */
function gridNumbers(view, names) {
  const GROUPS = 12;
  const [across, up] = view.size;
  const groups = Array.from({ length: GROUPS }, () => new Array(up).fill(0));
  for (const [i, j, count] of view.cells) groups[Math.floor((i * GROUPS) / across)][j] += count;
  const step = (view.x_range[1] - view.x_range[0]) / GROUPS;
  const high = (j) => view.y_range[0] + ((j + 0.5) / up) * (view.y_range[1] - view.y_range[0]);
  const lines = groups.map((counts, group) => {
    const rows = counts.reduce((sum, count) => sum + count, 0);
    let left = rows / 2;
    const middle = counts.findIndex((count) => { left -= count; return left <= 0 && rows > 0; });
    return [significant(view.x_range[0] + group * step), significant(view.x_range[0] + (group + 1) * step), grouped(rows), middle < 0 ? "" : significant(high(middle))];
  });
  return table(`${names[1]} by ${names[0]}`, [[`${names[0]} from`, true], ["to", true], ["rows", true], [`middle ${names[1]}`, true]], lines);
}

/** Curves that share their axes, with a point where the row is. */
export function lines({ title, words, xName, yName, curves, here, logX = false }) {
  const xs = curves.flatMap((curve) => curve.x);
  const ys = curves.flatMap((curve) => curve.y).concat(here ? [here[1]] : [], [0]);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const room = (high - low || 1) * 0.06;
  const place = frame({ x: [Math.min(...xs), Math.max(...xs)], y: [low - room, high + room], xName, yName, logX });
  const drawn = curves.map((curve, k) => s("polyline", {
    class: "line", stroke: COLOURS[k % COLOURS.length], "stroke-dasharray": DASHES[k % DASHES.length],
    points: curve.x.map((x, i) => `${place.across(x).toFixed(1)},${place.up(curve.y[i]).toFixed(1)}`).join(" "),
  }));
  const drawing = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, place.axes,
    s("line", { class: "zero", x1: place.left, x2: place.right, y1: place.up(0), y2: place.up(0) }), drawn,
    here ? s("circle", { class: "here", cx: place.across(here[0]), cy: place.up(here[1]), r: 6 }) : null);
  const key = curves.length < 2 ? null : h("ul", { class: "key" }, curves.map((curve, k) => h("li", null,
    s("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: COLOURS[k % COLOURS.length], "stroke-width": 2.5, "stroke-dasharray": DASHES[k % DASHES.length] })),
    curve.name)));
  const step = Math.max(1, Math.floor(curves[0].x.length / 12));
  const numbers = table(title, [[xName, true], ...curves.map((curve) => [curve.name ?? yName, true])],
    curves[0].x.filter((_, i) => i % step === 0).map((x, i) => [significant(x), ...curves.map((curve) => significant(curve.y[i * step]))]));
  return figure(title, words, drawing, numbers, key);
}
