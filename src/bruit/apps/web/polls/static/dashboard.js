// Draws what the server broadcasts: raw reports, the estimate with its interval, and the error against n.
const $ = id => document.getElementById(id);
const poll = JSON.parse($("told").textContent);
const isShare = poll.kind !== "number";
const shown = value => (isShare ? `${(100 * value).toFixed(1)} %` : Number(value).toPrecision(4));
const style = getComputedStyle(document.documentElement);
const colour = name => style.getPropertyValue(name).trim();
const layout = more => ({
  margin: { l: 60, r: 16, t: 10, b: 50 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", showlegend: false,
  font: { color: colour("--ink"), family: "system-ui, sans-serif", size: 14 }, ...more,
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
  const ticktext = rows.map(row => plain(cut(row.label)));
  const yaxis = { range: [Math.max(rows.length, 1) - 0.5, -0.5], tickvals: y, ticktext, automargin: true, showgrid: false, zeroline: false };
  const height = 70 + 40 * Math.max(rows.length, 2);
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
  const xaxis = axis("answers", [...x, answers || x[0]], innerWidth < 480 ? [1] : [1, 2, 5], "~s");
  const yaxis = axis(poll.kind === "text" ? "least share found" : "error", y, [1, 2, 5], isShare ? ".1~%" : undefined);
  Plotly.react("error-figure", [trace], layout({ xaxis, yaxis, shapes }), config);
};

const nothing = poll.kind === "text" ? "The texts are looked for once ten reports are there." : "No report has come yet.";

const show = told => {
  $("answers").textContent = told.answers;
  $("open").textContent = told.open ? "open" : "closed";
  if ($("round").textContent) $("round").textContent = `, round ${told.round}`;
  if ($("raw-table")) fill("raw-table", told.raw.map(row => [row.label, row.count, row.share === null ? "–" : `${(100 * row.share).toFixed(1)} %`]));
  fill("estimate-table", told.estimate.map(row => [row.label, shown(row.value), shown(row.low), shown(row.high)]));
  $("beyond").hidden = !told.beyond.length;
  $("beyond-what").textContent = told.beyond.join(", ");
  $("nothing").textContent = told.estimate.length ? "" : nothing;
  drawEstimate(told.estimate);
  drawError(told.answers);
  const now = poll.kind === "text" ? "A text that so many hold is found: " : "Now ± ";
  const error = isShare ? `${(100 * told.error).toFixed(1)} ${poll.kind === "text" ? "%" : "points"}` : shown(told.error);
  $("error-now").textContent = told.error === null ? "" : `${now}${error} at worst. Four times as many answers halve it.`;
};

$("full")?.addEventListener("click", () => document.documentElement.requestFullscreen());

const source = new EventSource(`/api/polls/${poll.id}/events`);
source.addEventListener("results", event => {
  $("line").textContent = "";
  show(JSON.parse(event.data));
});
source.onerror = () => ($("line").textContent = "Waiting for the server…");
drawEstimate([]);
drawError(0);
