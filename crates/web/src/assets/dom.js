// Elements, numbers and the few shapes that all pages share.

/** An element. `on…` attributes are listeners, `false` and `null` leave an attribute out. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A sentence with `code` between backticks. */
export function sentence(text) {
  const parts = String(text).split("`");
  return parts.map((part, i) => (i % 2 === 1 && i < parts.length - 1 ? h("code", null, part) : part));
}

/** A number to five significant digits. */
export function significant(number) {
  if (number === null || number === undefined) return "";
  if (number === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(number)));
  if (size < -4 || size > 6) return number.toExponential(3);
  return number.toFixed(Math.max(0, 4 - size));
}

/** A number as a table shows it: whole numbers stay whole. */
export function shown(number) {
  return Number.isInteger(number) && Math.abs(number) < 1e15 ? String(number) : significant(number);
}

export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function counted(count, thing) {
  return `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;
}

export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)} %`;
}

export function size(bytes) {
  for (const [unit, name] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (bytes >= unit) return `${(bytes / unit).toFixed(bytes >= 10 * unit ? 0 : 1)} ${name}`;
  }
  return `${bytes} bytes`;
}

export function seconds(number) {
  if (number < 1) return `${Math.round(1000 * number)} ms`;
  return number < 60 ? `${number.toFixed(1)} s` : `${Math.floor(number / 60)} min ${Math.round(number % 60)} s`;
}

/** The last part of the name of a table. */
export function baseName(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

export function loading(words) {
  return h("p", { class: "loading", role: "status" }, words);
}

export function empty(words) {
  return h("p", { class: "empty" }, sentence(words));
}

/** What went wrong, and what to do about it. */
export function problem(error) {
  return h("div", { class: "problem", role: "alert" },
    h("p", null, h("strong", null, "That did not work. "), sentence(error.message)),
    error.problems?.length ? h("ul", null, error.problems.map((words) => h("li", null, sentence(words)))) : null,
    error.hint ? h("p", null, sentence(error.hint)) : null);
}

/** Tells people who do not see the page what changed. */
export function announce(words) {
  document.getElementById("status").textContent = words;
}

/** A part of a page. */
export function section(id, heading, lead, ...children) {
  return h("section", { "aria-labelledby": id },
    h("h2", { id }, heading), lead ? h("p", { class: "lead" }, sentence(lead)) : null, children);
}

/** A table that scrolls within the page. Columns are `[name, isNumber]`. */
export function table(caption, columns, rows) {
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
    h("table", null,
      h("caption", null, caption),
      h("thead", null, h("tr", null, columns.map(([name, isNumber]) =>
        h("th", { scope: "col", class: isNumber ? "number" : null }, name)))),
      h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell, j) =>
        cell instanceof Element && cell.tagName === "TD" ? cell
          : h("td", { class: columns[j][1] ? "number" : null }, cell)))))));
}

/** Calls at most once in so many milliseconds, the last time for sure. */
export function calmed(milliseconds, call) {
  let timer = null;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
}
