// Draws what the server broadcasts: raw reports, the estimate with its interval, and the error against n.
import { drawErrors, drawEstimates } from "./figures.js";

const $ = id => document.getElementById(id);
const poll = JSON.parse($("told").textContent), { say } = poll;
const phrase = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const lang = document.documentElement.lang;
const isShare = poll.kind !== "number", isText = poll.kind === "text" || poll.kind === "open";
const tenths = value => value.toLocaleString(lang, { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false });
const precise = value => value.toLocaleString(lang, { minimumSignificantDigits: 4, maximumSignificantDigits: 4, useGrouping: false });
const percent = share => `${tenths(100 * share)}\u00a0%`;
const shown = value => (isShare ? percent(value) : precise(value));
// the answers of our own, such as yes and no, in the language of the page; all others are their maker's
const label = row => (poll.kind === "choices" || isText ? row.label : (say[row.label] ?? row.label));
// a beginning of an answer goes on, unless the answer ends there
const begun = name => (name.endsWith("·") ? name.slice(0, -1) : `${name}…`);

const fill = (table, rows) => {
  const body = $(table).tBodies[0];
  body.replaceChildren(...rows.map(cells => {
    const row = document.createElement("tr");
    cells.forEach((cell, place) => {
      const made = document.createElement(place ? "td" : "th");
      if (place) made.className = "number";
      else made.scope = "row";
      made.textContent = cell;
      row.append(made);
    });
    return row;
  }));
};

const cut = text => (text.length > 28 ? `${text.slice(0, 27)}…` : text); // the table has the whole
const ticks = (options = {}) => value => value.toLocaleString(lang, { maximumSignificantDigits: 6, ...options });

let latest = { estimate: [], answers: 0 };
const draw = () => {
  const [low, high] = isShare ? [0, 1] : [+poll.low, +poll.high], tick = ticks(isShare ? { style: "percent" } : {});
  const large = $("estimate-figure").closest(".present") && innerWidth > 900; // read from the back of a room
  const rows = latest.estimate.map(row => ({ ...row, name: cut(label(row)) }));
  drawEstimates($("estimate-figure"), rows, { low, high, tick, large, bars: isShare, told: row => shown(row.value) });
  if (!$("error-figure")) return; // the page to project has none
  const titles = { across: say.answers, up: isText ? say.least : say.error };
  const upTick = ticks({ maximumSignificantDigits: 2, ...(isShare ? { style: "percent" } : {}) });
  drawErrors($("error-figure"), poll.errors, latest.answers, { ...titles, upTick, acrossTick: ticks({ notation: "compact" }) });
};

// why nothing is estimated: too few reports have come, which have no error yet, or nothing stands out in them
const nothing = told =>
  told.error !== null && poll.kind === "text" ? say.none_found : ({ text: say.empty_texts, open: say.empty_rounds }[poll.kind] ?? say.empty);

// rounds that are over, under each beginning those that extend it
const drawTree = rounds => {
  const rows = rounds.flatMap((found, at) => found.map(row => ({ ...row, round: at + 1 })));
  rows.sort((one, other) => (one.label < other.label ? -1 : one.label > other.label ? 1 : one.round - other.round));
  fill("tree-table", rows.map(row => [begun(row.label), row.round, shown(row.value), shown(row.low), shown(row.high)]));
};

const show = told => {
  if (told.tree) {
    drawTree(told.tree);
    if (told.round < poll.rounds) told.estimate.forEach(row => (row.label = begun(row.label)));
  }
  $("answers").textContent = told.answers;
  $("open").textContent = told.open ? say.open : say.closed;
  if ($("round").textContent) $("round").textContent = phrase(poll.rounds ? say.round_of : say.round, { ...told, rounds: poll.rounds });
  if ($("raw-table")) fill("raw-table", told.raw.map(row => [label(row), row.count, row.share === null ? "–" : percent(row.share)]));
  fill("estimate-table", told.estimate.map(row => [label(row), shown(row.value), shown(row.low), shown(row.high)]));
  $("beyond").hidden = !told.beyond.length;
  $("beyond-what").textContent = told.beyond.map(name => label({ label: name })).join(", ");
  $("nothing").textContent = told.estimate.length ? "" : nothing(told);
  latest = told;
  draw();
  const now = isShare ? (isText ? say.now_texts : say.now_points) : say.now;
  const error = isShare ? tenths(100 * told.error) : precise(+told.error);
  $("error-now").textContent = told.error === null ? "" : phrase(now, { error });
};

$("full")?.addEventListener("click", () => document.documentElement.requestFullscreen());

const source = new EventSource(`/api/polls/${poll.id}/events`);
source.addEventListener("results", event => {
  $("line").textContent = "";
  show(JSON.parse(event.data));
});
source.onerror = () => ($("line").textContent = say.waiting);
addEventListener("resize", draw);
if (poll.results) show(poll.results);
else {
  $("nothing").textContent = say.computing;
  draw();
}
