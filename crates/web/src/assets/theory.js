// Theorem 2 with sliders: what a row is worth, given its distance and its error.
import { calmed, h, problem, section, significant } from "./dom.js";
import { get } from "./api.js";
import { lines } from "./charts.js";

// Name, label, from, to, start, whether it moves by factors, whether it is whole. The average row has d² near p,
// so the range of d² follows p.
const SLIDERS = [
  ["p", "p, columns", 1, 200, 10, true, true],
  ["m", "m, rows the buyer ends up with", 10, 1e6, 500, true, true],
  ["q", "q, smallest set that counts", 4, 1000, 50, true, true],
  ["sigma2", "σ², noise variance", 0.05, 20, 1, true, false],
  ["d2", "d², squared distance of the row", 0, ({ p }) => 6 * p, 12, false, false],
  ["e2", "e², squared residual of the row", 0, 20, 2, false, false],
];
const STEPS = 400;

export async function showTheory(main, _values, signal) {
  document.title = "Theory · dshap";
  const numbers = Object.fromEntries(SLIDERS.map(([name, , , , start]) => [name, start]));
  const place = { distance: h("div", { class: "panel" }), residual: h("div", { class: "panel" }) };
  const tiles = h("dl", { class: "tiles" });
  const messages = h("div");
  const controls = {};
  let isBusy = false;
  let isStale = false;

  // The curve against m takes longer than a frame, so it waits until the sliders rest.
  const sizesPlace = h("div", { class: "panel" });
  const drawSizes = calmed(120, async () => {
    try {
      const view = await get(`/api/theory?${new URLSearchParams(numbers)}&sizes=true`, signal);
      keepOpen(sizesPlace, () => sizesPlace.replaceChildren(lines({
        title: "Value against m", words: "The value is a mean over sets of up to m rows. From a few times q on, the more rows there are, the less one row matters.",
        xName: "m", yName: "value", here: [view.m, view.value], curves: [view.by_size], logX: true,
      })));
    } catch (error) {
      if (!signal.aborted) messages.replaceChildren(problem(error));
    }
  });
  const draw = async () => {
    if (isBusy) {
      isStale = true;
      return;
    }
    isBusy = true;
    try {
      const view = await get(`/api/theory?${new URLSearchParams(numbers)}`, signal);
      messages.replaceChildren();
      show(view, numbers, tiles, place);
      drawSizes();
    } catch (error) {
      if (!signal.aborted) messages.replaceChildren(problem(error));
    } finally {
      isBusy = false;
      if (isStale && !signal.aborted) {
        isStale = false;
        requestAnimationFrame(draw);
      }
    }
  };
  const set = (name, number) => {
    // With more columns the row stays as unusual as it is.
    if (name === "p") numbers.d2 = Number((numbers.d2 * number / numbers.p).toPrecision(3));
    numbers[name] = number;
    // The theorem needs q ≥ p + 3 and m ≥ q; the sliders keep to that.
    if (numbers.q < numbers.p + 3) numbers.q = numbers.p + 3;
    if (numbers.m < numbers.q) numbers.m = numbers.q;
    for (const [other, control] of Object.entries(controls)) control.show(numbers[other]);
    draw();
  };
  const sliders = SLIDERS.map((slider) => {
    const control = makeSlider(slider, numbers, (number) => set(slider[0], number));
    controls[slider[0]] = control;
    return control.element;
  });
  main.replaceChildren(
    h("div", null,
      h("h1", null, "What makes a row worth something"),
      h("p", { class: "lead" }, "In a regression with Gaussian inputs, the value of a row depends on two numbers: how far it lies from the others, and how wrong its target is. Move the sliders.")),
    h("div", { class: "columns" }, h("form", { class: "panel fields", "aria-label": "Sliders" }, sliders), h("div", null, tiles, messages)),
    section("curves", "Curves", "The point is the row of the sliders. The first chart is Figure 4 of the paper, computed as you move.",
      h("div", { class: "columns" }, place.distance, place.residual, sizesPlace)));
  await draw();
}

function makeSlider([name, label, from, until, start, byFactors, isWhole], numbers, onInput) {
  const id = `slider-${name}`;
  const last = () => (typeof until === "function" ? until(numbers) : until);
  const toNumber = (step) => {
    const [share, to] = [step / STEPS, last()];
    const number = byFactors ? from * (to / from) ** share : from + (to - from) * share;
    return isWhole ? Math.round(number) : Number(number.toPrecision(3));
  };
  const toStep = (number) => Math.round(STEPS * (byFactors ? Math.log(number / from) / Math.log(last() / from) : (number - from) / (last() - from)));
  const input = h("input", { type: "range", id, min: 0, max: STEPS, step: 1 });
  const output = h("output", { for: id });
  const show = (number) => {
    output.textContent = isWhole ? String(number) : significant(number);
    input.setAttribute("aria-valuetext", output.textContent);
    if (toNumber(Number(input.value)) !== number) input.value = String(toStep(number));
  };
  input.value = String(toStep(start));
  input.addEventListener("input", () => onInput(toNumber(Number(input.value))));
  show(start);
  return { element: h("div", { class: "slider" }, h("div", { class: "row spread" }, h("label", { for: id }, label), output), input), show };
}

function show(view, numbers, tiles, place) {
  const facts = [
    ["value", significant(view.value)], ["potential", significant(view.potential)], ["penalty", significant(view.penalty)],
    ["e² at which it is worth 0", view.break_even === null ? "none" : significant(view.break_even)],
  ];
  tiles.replaceChildren(...facts.map(([name, number]) => h("div", null, h("dt", null, name), h("dd", null, number))));
  keepOpen(place.distance, () => place.distance.replaceChildren(lines({
    title: "Value against distance", words: "A row far out teaches more if its error is small, and harms more if it is large.",
    xName: "squared distance d²", yName: "value", here: [numbers.d2, view.value],
    curves: view.by_distance.map((curve) => ({ ...curve, name: `e² = ${Number(curve.at.toPrecision(3))}` })),
  })));
  keepOpen(place.residual, () => place.residual.replaceChildren(lines({
    title: "Value against residual", words: "The value falls in a straight line with the squared residual.",
    xName: "squared residual e²", yName: "value", here: [numbers.e2, view.value], curves: [view.by_residual],
  })));
}

/** Draws anew; a table of numbers that was open stays open. */
function keepOpen(place, draw) {
  const isOpen = place.querySelector("details")?.open ?? false;
  draw();
  place.querySelector("details").open = isOpen;
}
