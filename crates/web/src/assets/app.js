// Which page is shown. Addresses stand behind the #, so that back and forward work.
import { h, loading, problem } from "./dom.js";
import { showHome } from "./home.js";
import { showTable } from "./table.js";
import { showRun } from "./run.js";
import { showCompare } from "./compare.js";
import { showTheory } from "./theory.js";

const main = document.getElementById("main");
let leaving = new AbortController();

const PAGES = [
  [/^\/?$/, showHome, "home"],
  [/^\/table\/(.+)$/, showTable, "home"],
  [/^\/run\/([^/]+)$/, showRun, "home"],
  [/^\/compare\/([^/]+)\/([^/]+)$/, showCompare, "home"],
  [/^\/theory$/, showTheory, "theory"],
];

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const address = location.hash.slice(1);
  const found = PAGES.find(([pattern]) => pattern.test(address));
  const name = found?.[2];
  for (const link of document.querySelectorAll("nav a[data-page]")) {
    if (link.dataset.page === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(loading("Loading"));
  if (!found) {
    document.title = "Not found · dshap";
    main.replaceChildren(h("h1", null, "There is no such page"), h("p", null, h("a", { href: "#/" }, "Tables and runs")));
    return;
  }
  const values = address.match(found[0]).slice(1).map(decodeURIComponent);
  try {
    await found[1](main, values, signal);
  } catch (error) {
    if (signal.aborted) return;
    document.title = "A problem · dshap";
    main.replaceChildren(h("h1", null, "This page cannot be shown"), problem(error), h("p", null, h("a", { href: "#/" }, "Tables and runs")));
  }
}

window.addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
show();
