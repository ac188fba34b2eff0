// Draws a figure that came as data, in the colours of the page.

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Powers of ten, written out (0.1, 1, 10); within two of them also their doubles and fives.
function ticks(values) {
  const seen = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...seen))), high = Math.ceil(Math.log10(Math.max(...seen)));
  const digits = high - low > 2 ? [1] : [1, 2, 5], found = [];
  for (let power = low; power <= high; power++) found.push(...digits.map((digit) => Number(`${digit}e${power}`)));
  return { tickvals: found, ticktext: found.map((tick) => (tick < 1e-4 || tick >= 1e6 ? tick.toExponential() : String(tick))) };
}

function axis(described, values = []) {
  const line = { gridcolor: ink("--line"), zeroline: false, linecolor: ink("--soft"), automargin: true };
  return { ...line, title: { text: described.label }, ...(described.log ? { type: "log", ...ticks(values) } : { type: "linear" }) };
}

export function layout(figure, more = {}) {
  return {
    title: { text: figure.title, x: 0, xref: "paper", font: { size: 15 } },
    font: { family: "system-ui, sans-serif", color: ink("--ink"), size: 13 },
    paper_bgcolor: ink("--paper"),
    plot_bgcolor: ink("--paper"),
    margin: { l: 60, r: 15, t: 45, b: 50 },
    showlegend: true,
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
    ...more,
  };
}

// plotly reads tags in texts: a label stays what it is
const plain = (text) => String(text).replace(/[&<]/g, (sign) => ({ "&": "&amp;", "<": "&lt;" })[sign]);

const QUIET = { displayModeBar: false, responsive: true };

function traces(figure) {
  const curves = figure.curves.map((curve, number) => ({
    x: curve.x, y: curve.y, name: curve.name, mode: "lines",
    line: { color: COLOURS[number % COLOURS.length], width: curve.dashed ? 1.5 : 2.5, dash: curve.dashed ? "dash" : "solid" },
  }));
  if (!figure.point) return curves;
  const [x, y] = figure.point;
  return [...curves, { x: [x], y: [y], name: "this view", mode: "markers", marker: { size: 12, color: ink("--ink") } }];
}

export function drawCurves(place, figure) {
  const [xaxis, yaxis] = ["x", "y"].map((name) => axis(figure[name], figure.curves.flatMap((curve) => curve[name])));
  return Plotly.react(place, traces(figure), layout(figure, { xaxis, yaxis }), QUIET);
}

// One mark a label with two bars apart: what noise does, and what sampling does.
export function drawUncertainty(place, figure) {
  const bar = (name, colour, shift, reach) => ({
    type: "scatter", mode: "markers", name,
    x: figure.values, y: figure.labels.map((_, number) => number + shift),
    error_x: { type: "data", array: reach, color: colour, thickness: 3, width: 6 },
    marker: { color: colour, size: 9 },
  });
  const drawn = [bar("noise", COLOURS[0], -0.14, figure.noise)];
  if (figure.sampling) drawn.push(bar("sampling", COLOURS[1], 0.14, figure.sampling));
  const rows = { ...axis({ label: "", log: false }), tickvals: figure.labels.map((_, number) => number), ticktext: figure.labels.map(plain), autorange: "reversed" };
  const height = Math.max(220, 130 + 44 * figure.labels.length);
  return Plotly.react(place, drawn, layout(figure, { xaxis: axis(figure.x), yaxis: rows, height }), QUIET);
}

export async function save(place, format, name) {
  const address = await Plotly.toImage(place, { format, width: 900, height: 560, scale: format === "png" ? 2 : 1 });
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name}.${format}`;
  link.click();
}
