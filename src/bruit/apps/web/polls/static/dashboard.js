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

const drawEstimate = rows => {
  const known = rows.length ? rows : [];
  const y = known.map(row => row.value), x = known.map(row => row.label);
  const error_y = {
    type: "data", symmetric: false, thickness: 2, width: 8, color: colour("--ink"),
    array: known.map(row => row.high - row.value), arrayminus: known.map(row => row.value - row.low),
  };
  const range = isShare ? [Math.min(0, ...y) - 0.02, Math.max(1, ...y) + 0.02] : [+poll.low, +poll.high];
  const trace = isShare
    ? { type: "bar", x, y, error_y, marker: { color: colour("--accent"), opacity: 0.75 } }
    : { type: "scatter", mode: "markers", x, y, error_y, marker: { color: colour("--accent"), size: 14 } };
  const axis = { range, gridcolor: lines, zerolinecolor: lines, tickformat: isShare ? ".0%" : undefined };
  Plotly.react("estimate-figure", [trace], layout({ xaxis: { type: "category" }, yaxis: axis }), config);
};

const drawError = answers => {
  const traces = [{ x: poll.errors.map(e => e[0]), y: poll.errors.map(e => e[1]), mode: "lines+markers", line: { color: colour("--accent") } }];
  const shapes = answers
    ? [{ type: "line", x0: answers, x1: answers, y0: 0, y1: 1, yref: "paper", line: { color: colour("--warm"), width: 2, dash: "dot" } }]
    : [];
  const xaxis = { type: "log", title: { text: "answers" }, gridcolor: lines };
  const yaxis = { type: "log", title: { text: isShare ? "error (share)" : "error" }, gridcolor: lines, tickformat: isShare ? ".0%" : undefined };
  Plotly.react("error-figure", traces, layout({ xaxis, yaxis, shapes }), config);
};

const show = told => {
  $("answers").textContent = told.answers;
  $("open").textContent = told.open ? "open" : "closed";
  if ($("round").textContent) $("round").textContent = `, round ${told.round}`;
  fill("raw-table", told.raw.map(row => [row.label, row.count, row.share === null ? "–" : `${(100 * row.share).toFixed(1)} %`]));
  fill("estimate-table", told.estimate.map(row => [row.label, shown(row.value), shown(row.low), shown(row.high)]));
  drawEstimate(told.estimate);
  drawError(told.answers);
  const half = told.estimate.length ? Math.max(...told.estimate.map(row => (row.high - row.low) / 2)) : null;
  $("error-now").textContent = half === null ? "" : `Now ± ${shown(half)} at worst. Four times as many answers halve it.`;
};

const source = new EventSource(`/api/polls/${poll.id}/events`);
source.addEventListener("results", event => {
  $("line").textContent = "";
  show(JSON.parse(event.data));
});
source.onerror = () => ($("line").textContent = "Waiting for the server…");
drawEstimate([]);
drawError(0);
