// Shows what the noise of a protocol does, to people who are made up in this page: nothing is sent and nobody answers.
import { draw, filter, randomise, unpack } from "./client.js";

const SVG = "http://www.w3.org/2000/svg";
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const SECONDS = 1.5;
const PITCH = 10;
const make = (name, attributes, parent) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
};
export const phrase = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

// One step after the other within some seconds; all at once for whoever asked for less motion.
export const play = (steps, act, done) => {
  if (STILL.matches) {
    for (let at = 0; at < steps; at++) act(at);
    return done();
  }
  const began = performance.now();
  let next = 0;
  const turn = now => {
    for (const due = Math.min(steps, Math.ceil(((now - began) / 1000 / SECONDS) * steps)); next < due; next++) act(next);
    if (next < steps) requestAnimationFrame(turn);
    else done();
  };
  requestAnimationFrame(turn);
};

// Two fields of dots, one dot a person: what they hold, and what they send.
const fields = (figure, people, titles) => {
  const columns = Math.ceil(Math.sqrt(people * 1.6)), rows = Math.ceil(people / columns), gap = 4 * PITCH;
  const wide = columns * PITCH, size = Math.max(8, (2 * wide + gap) / 34);
  figure.setAttribute("viewBox", `0 ${-2 * size} ${2 * wide + gap} ${rows * PITCH + 2 * size}`);
  figure.replaceChildren();
  return titles.map((title, side) => {
    const left = side * (wide + gap);
    make("text", { x: left, y: -size / 2, "font-size": size }, figure).textContent = title;
    return Array.from({ length: people }, (_, at) => {
      const place = { cx: left + ((at % columns) + 0.5) * PITCH, cy: (Math.floor(at / columns) + 0.5) * PITCH };
      return make("circle", { ...place, r: 0.36 * PITCH, class: "unsent" }, figure);
    });
  });
};

const shuffled = list => {
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor((draw() / 2 ** 52) * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
  return list;
};

// Made-up people: of a list of answers the first is the most frequent; yes is held by three of ten.
const population = ({ protocol, people }) => {
  const { categories } = protocol;
  if (!categories) return Array.from({ length: people }, (_, at) => at / Math.max(people - 1, 1));
  if (categories.length === 2) return shuffled(Array.from({ length: people }, (_, at) => +(at < 0.3 * people)));
  const weights = categories.map((_, place) => categories.length - place), all = weights.reduce((a, b) => a + b);
  const held = weights.flatMap((weight, place) => Array(Math.round((weight / all) * people)).fill(place));
  return shuffled(Array.from({ length: people }, (_, at) => held[at] ?? 0));
};

const number = text => text.split("/").map(Number).reduce((a, b) => a / b);
const written = (value, digits) => value.toLocaleString(document.documentElement.lang, { maximumSignificantDigits: digits });
const percent = share => `${Math.round(100 * share)}\u00a0%`;

// The crowd of a protocol whose report is the place of an answer, or a bit.
export const showCrowd = (figure, shown, said) => {
  const { protocol, people, say, law, error, labels } = shown, { categories } = protocol, held = population(shown);
  const [mine, sent] = fields(figure, people, [say.hold, say.send]);
  held.forEach((value, at) => mine[at].setAttribute("class", categories ? `answer-${value % 6}` : "answer-1"));
  if (!categories) held.forEach((value, at) => mine[at].setAttribute("fill-opacity", 0.15 + 0.85 * value));
  const counts = Array(categories?.length ?? 2).fill(0);
  let changed = 0;
  const [low, high] = categories ? [] : ["low", "high"].map(name => number(protocol.settings[name]));
  const report = at => {
    const answer = categories ? categories[held[at]] : String(low + held[at] * (high - low));
    const place = randomise(protocol, answer, {});
    counts[place]++;
    if (categories) changed += place !== held[at];
    sent[at].setAttribute("class", `answer-${place % 6}${categories && place !== held[at] ? " changed" : ""}`);
    if (!categories && !place) sent[at].setAttribute("fill-opacity", 0.15);
  };
  const finish = () => {
    // the answer that is watched: yes, or the first of a list; of numbers, a one
    const watched = categories ? (categories.length === 2 ? 1 : 0) : 1, share = counts[watched] / people;
    const truth = held.filter(value => value === watched).length / people;
    const part = Math.min(Math.max((share - law.false) / (law.true - law.false), -9), 9);
    const reach = categories ? Math.round(100 * error) : written(error, 2);
    const label = labels[watched];
    said.textContent = categories
      ? phrase(say.crowd, { people, changed, label, sent: percent(share), estimate: percent(part), error: reach, truth: percent(truth) })
      : phrase(say.numbers, { people, ones: counts[1], estimate: written(low + part * (high - low), 3), error: reach, truth: written((low + high) / 2, 3) });
  };
  play(people, report, finish);
};

// One person's bits: those of the answer, what the device remembers of them, and what it sends.
export const showBits = (figure, { protocol, choices, say }, said) => {
  const answer = choices[0], memory = {}, report = randomise(protocol, answer, memory), { categories } = protocol;
  const size = protocol.bits ?? categories.length, hex = Array.isArray(report) ? report[1] : report;
  const truth = categories ? categories.map(name => +(name === answer)) : filter(protocol, report[0], answer);
  const kept = Object.entries(memory).find(([name]) => name !== "cohort")?.[1];
  const rows = [[say.bits, truth], ...(kept && kept !== hex ? [[say.kept, unpack(kept, size)]] : []), [say.send, unpack(hex, size)]];
  const columns = Math.min(size, size > 256 ? 80 : 32), tall = Math.ceil(size / columns) * PITCH;
  const letters = Math.max(10, (columns * PITCH) / 34), step = tall + 3 * letters;
  figure.setAttribute("viewBox", `0 ${-2 * letters} ${columns * PITCH} ${rows.length * step}`);
  figure.replaceChildren();
  const squares = rows.map(([title, bits], row) => {
    make("text", { x: 0, y: row * step - 0.4 * letters, "font-size": letters }, figure).textContent = title;
    return bits.map((_, at) => {
      const place = { x: (at % columns) * PITCH + 1, y: row * step + Math.floor(at / columns) * PITCH + 1 };
      return make("rect", { ...place, width: PITCH - 2, height: PITCH - 2, rx: 1.5, class: "unsent" }, figure);
    });
  });
  const turn = at => {
    const row = Math.floor(at / size), bit = at % size, value = rows[row][1][bit];
    squares[row][bit].setAttribute("class", `bit-${value}${row && value !== truth[bit] ? " changed" : ""}`);
  };
  const different = unpack(hex, size).filter((bit, at) => bit !== truth[at]).length;
  play(rows.length * size, turn, () => (said.textContent = phrase(say.person, { answer, bits: size, changed: different })));
};

export const show = (figure, shown, said) => {
  said.textContent = "";
  (shown.law ? showCrowd : showBits)(figure, shown, said);
};

for (const view of document.querySelectorAll(".noise[data-view]")) {
  const shown = JSON.parse(view.querySelector("script").textContent);
  view.querySelector("button").onclick = () => show(view.querySelector("svg"), shown, view.querySelector("[role=status]"));
}
