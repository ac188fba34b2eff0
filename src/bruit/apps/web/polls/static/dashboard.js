// Draws what the server broadcasts: raw reports, the estimate with its interval, and the error against n.
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
const style = getComputedStyle(document.documentElement);
const projected = document.querySelector(".present") && innerWidth > 900; // read from the back of a room
const colour = name => style.getPropertyValue(name).trim();
const layout = more => ({
  margin: { l: 60, r: 16, t: 10, b: 50 }, separators: lang === "fr" ? ",\u202f" : ".,", paper_bgcolor: "transparent", plot_bgcolor: "transparent", showlegend: false,
  font: { color: colour("--ink"), family: "system-ui, sans-serif", size: projected ? 22 : 14 }, ...more,
});
const config = { displayModeBar: false, responsive: true };
const lines = colour("--line");
const plain = text => text.replace(/[&<]/g, sign => ({ "&": "&amp;", "<": "&lt;" })[sign]); // plotly reads tags in texts

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

const within = (value, low, high) => Math.min(Math.max(value, low), high);
const cut = text => (text.length > 28 ? `${text.slice(0, 27)}…` : text); // the table has the whole
const steps = (values, digits) => {
  // these digits times powers of ten over the range of the values
  const found = [], top = Math.max(...values);
  for (let power = Math.floor(Math.log10(Math.min(...values))); 10 ** power <= top; power++) {
    found.push(...digits.map(digit => Number(`${digit}e${power}`)));
  }
  return found;
};

const drawEstimate = rows => {
  // The whole estimate stands in the table; the figure is cut off a little beyond what is possible.
  const [low, high] = isShare ? [0, 1] : [+poll.low, +poll.high], more = (high - low) / 5;
  const x = rows.map(row => within(row.value, low - more, high + more)), y = rows.map((_, place) => place);
  const half = rows.map(row => (row.high - row.low) / 2);
  const interval = {
    type: "scatter", mode: "markers", x: rows.map(row => (row.high + row.low) / 2), y, marker: { size: 1, color: colour("--ink") },
    error_x: { type: "data", array: half, thickness: 2.5, width: 8, color: colour("--ink") }, hoverinfo: "skip",
  };
  const estimate = isShare
    ? { type: "bar", orientation: "h", x, y, marker: { color: colour("--accent"), opacity: 0.7 }, hoverinfo: "x" }
    : { type: "scatter", mode: "markers", x, y, marker: { color: colour("--accent"), size: 16, symbol: "diamond" }, hoverinfo: "x" };
  const xaxis = {
    range: [Math.min(low, ...x), Math.max(high, ...x) + more / 10], gridcolor: lines, zerolinecolor: lines,
    tickformat: isShare ? ".0%" : undefined,
  };
  const ticktext = rows.map(row => plain(cut(label(row))));
  const yaxis = { range: [Math.max(rows.length, 1) - 0.5, -0.5], tickvals: y, ticktext, automargin: true, showgrid: false, zeroline: false };
  const height = 70 + (projected ? 64 : 40) * Math.max(rows.length, 2);
  Plotly.react("estimate-figure", [estimate, interval], layout({ xaxis, yaxis, height, margin: { l: 10, r: 16, t: 10, b: 40 } }), config);
};

const drawError = answers => {
  if (!$("error-figure")) return; // the page to project has none
  const x = poll.errors.map(row => row[0]), y = poll.errors.map(row => row[1]);
  const trace = { x, y, mode: "lines+markers", line: { color: colour("--accent") } };
  const line = { color: colour("--warm"), width: 2, dash: "dot" };
  const shapes = answers ? [{ type: "line", x0: answers, x1: answers, y0: 0, y1: 1, yref: "paper", line }] : [];
  const axis = (title, values, digits, tickformat) => ({
    type: "log", title: { text: title }, gridcolor: lines, tickvals: steps(values, digits), tickformat, tickangle: 0,
  });
  const xaxis = axis(say.answers, [...x, answers || x[0]], innerWidth < 480 ? [1] : [1, 2, 5], "~s");
  const yaxis = axis(isText ? say.least : say.error, y, [1, 2, 5], isShare ? ".1~%" : undefined);
  Plotly.react("error-figure", [trace], layout({ xaxis, yaxis, shapes }), config);
};

const nothing = { text: say.empty_texts, open: say.empty_rounds }[poll.kind] ?? say.empty;

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
  $("nothing").textContent = told.estimate.length ? "" : nothing;
  drawEstimate(told.estimate);
  drawError(told.answers);
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
drawEstimate([]);
drawError(0);
