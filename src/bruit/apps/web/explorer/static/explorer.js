// Moves the figure with the sliders, and keeps the address and the exports in step with it.

import { drawCurves, save } from "./chart.js";

const WAIT = 120;
const form = document.getElementById("view");
const figure = document.getElementById("figure");
const tool = form.dataset.tool;
let asked = 0;
let timer = 0;

function valueAt(slider) {
  const share = slider.value / slider.max;
  const [low, high] = [Number(slider.dataset.low), Number(slider.dataset.high)];
  const value = slider.dataset.log === "true" ? low * (high / low) ** share : low + (high - low) * share;
  if (slider.dataset.whole === "true") return String(Math.round(Number(value.toPrecision(3))));
  return String(Number(value.toPrecision(3)));
}

function placeOf(slider, value) {
  const [low, high] = [Number(slider.dataset.low), Number(slider.dataset.high)];
  const inside = Math.min(Math.max(value, low), high);
  const share = slider.dataset.log === "true" ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
  return Math.round(share * slider.max);
}

function query() {
  return new URLSearchParams(new FormData(form)).toString();
}

function tell(found) {
  document.getElementById("refused").textContent = "";
  document.getElementById("sentence").textContent = found.sentence;
  document.getElementById("warning").textContent = found.warning;
  figure.setAttribute("aria-label", `${found.title}. ${found.sentence}`);
  document.getElementById("facts").replaceChildren(...found.facts.map(([name, value]) => {
    const pair = document.createElement("div");
    const [term, said] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, said.textContent] = [name, value];
    pair.append(term, said);
    return pair;
  }));
  const address = `/explorer/${tool}${found.link}`;
  history.replaceState(null, "", address);
  document.getElementById("link").href = address;
  for (const link of document.querySelectorAll("[data-file]")) link.href = `/explorer/${tool}/${link.dataset.file}${found.link}`;
}

async function draw({ first = false } = {}) {
  const turn = ++asked;
  const answer = await fetch(`/explorer/${tool}/figure?${query()}`);
  const found = await answer.json();
  if (turn !== asked) return; // a later move has overtaken this one
  const refused = found.refused ?? (answer.ok ? "" : found.detail);
  if (refused) {
    document.getElementById("refused").textContent = refused;
    return;
  }
  if (!first) tell(found);
  await drawCurves(figure, found);
  figure.dataset.drawn = found.link;
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(draw, WAIT);
}

for (const slider of form.querySelectorAll("input[type=range]")) {
  const entry = document.getElementById(slider.dataset.for);
  slider.addEventListener("input", () => {
    entry.value = valueAt(slider);
    slider.setAttribute("aria-valuetext", entry.value);
    soon();
  });
  entry.addEventListener("input", () => {
    const value = Number(entry.value);
    if (entry.value.trim() && Number.isFinite(value)) slider.value = placeOf(slider, value);
    slider.setAttribute("aria-valuetext", entry.value);
    soon();
  });
}
for (const choice of form.querySelectorAll("select")) choice.addEventListener("change", soon);
for (const button of document.querySelectorAll("[data-format]")) {
  button.addEventListener("click", () => save(figure, button.dataset.format, `bruit-${tool}`));
}
form.addEventListener("submit", (event) => { event.preventDefault(); draw(); });
draw({ first: true });
