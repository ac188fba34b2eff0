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
const steps = values => {
  // 1, 2 and 5 times powers of ten over the range of the values
  const found = [], top = Math.max(...values);
  for (let power = Math.floor(Math.log10(Math.min(...values))); 10 ** power <= top; power++) {
    found.push(...[1, 2, 5].map(digit => Number(`${digit}e${power}`)));
  }
  return found;
};

const drawEstimate = rows => {
  // The whole estimate stands in the table; the figure is cut off a little beyond what is possible.
  const [low, high] = isShare ? [0, 1] : [+poll.low, +poll.high], more = (high - low) / 5;
  const x = rows.map(row => plain(row.label)), y = rows.map(row => within(row.value, low - more, high + more));
  const half = rows.map(row => (row.high - row.low) / 2);
  const interval = {
    type: "scatter", mode: "markers", x, y: rows.map(row => (row.high + row.low) / 2), marker: { size: 1, color: colour("--ink") },
    error_y: { type: "data", array: half, thickness: 2.5, width: 10, color: colour("--ink") }, hoverinfo: "skip",
  };
  const estimate = isShare
    ? { type: "bar", x, y, marker: { color: colour("--accent"), opacity: 0.7 } }
    : { type: "scatter", mode: "markers", x, y, marker: { color: colour("--accent"), size: 16, symbol: "diamond" } };
  const yaxis = {
    range: [Math.min(low, ...y), Math.max(high, ...y)], gridcolor: lines, zerolinecolor: lines,
    tickformat: isShare ? ".0%" : undefined,
  };
  Plotly.react("estimate-figure", [estimate, interval], layout({ xaxis: { type: "category" }, yaxis }), config);
};

const drawError = answers => {
  const x = poll.errors.map(row => row[0]), y = poll.errors.map(row => row[1]);
  const trace = { x, y, mode: "lines+markers", line: { color: colour("--accent") } };
  const line = { color: colour("--warm"), width: 2, dash: "dot" };
  const shapes = answers ? [{ type: "line", x0: answers, x1: answers, y0: 0, y1: 1, yref: "paper", line }] : [];
  const axis = (title, values, tickformat) => ({
    type: "log", title: { text: title }, gridcolor: lines, tickvals: steps(values), tickformat,
  });
  const xaxis = axis("answers", [...x, answers || x[0]], "~s"), yaxis = axis(poll.kind === "text" ? "least share found" : "error", y, isShare ? ".1~%" : undefined);
  Plotly.react("error-figure", [trace], layout({ xaxis, yaxis, shapes }), config);
};

const show = told => {
  $("answers").textContent = told.answers;
  $("open").textContent = told.open ? "open" : "closed";
  if ($("round").textContent) $("round").textContent = `, round ${told.round}`;
  if ($("raw-table")) fill("raw-table", told.raw.map(row => [row.label, row.count, row.share === null ? "–" : `${(100 * row.share).toFixed(1)} %`]));
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
