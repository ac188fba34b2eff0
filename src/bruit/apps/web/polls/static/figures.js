// Draws the figures of a poll as SVG: each estimate with its interval, and the error against the number of answers.
const within = (value, low, high) => Math.min(Math.max(value, low), high);

const canvas = (place, height) => {
  const width = place.clientWidth;
  const make = (parent, name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return parent.appendChild(made);
  };
  place.replaceChildren();
  const svg = make(place, "svg", { class: "values", width, height, viewBox: `0 0 ${width} ${height}` });
  return {
    width, height,
    text: (x, y, anchor, text, more = {}) =>
      make(svg, "text", { x, y, "text-anchor": anchor, "dominant-baseline": "central", ...more }, text),
    line: (kind, x1, y1, x2, y2) => make(svg, "line", { class: kind, x1, y1, x2, y2 }),
    shape: (name, attributes, told) => make(make(svg, name, attributes), "title", {}, told),
  };
};

// round numbers in a range, about as many as asked
const rounded = (low, high, many) => {
  const rough = (high - low) / many, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(digit => digit * power >= rough);
  const first = Math.ceil(low / step), last = Math.floor(high / step);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
};

// these digits times powers of ten in a range
const powers = (low, high, digits) => {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    found.push(...digits.map(digit => Number(`${digit}e${power}`)));
  }
  return found.filter(value => value >= low && value <= high);
};

// Bars, or diamonds where zero is no beginning; the figure is cut off a little beyond what is possible, [low, high].
export const drawEstimates = (place, rows, { low, high, bars, large, tick, told }) => {
  const size = large ? 22 : 13, step = large ? 64 : 40;
  const draw = canvas(place, 2.4 * size + step * Math.max(rows.length, 2) + 16), bottom = draw.height - 2.4 * size;
  const middle = row => 8 + step * (row + 0.5);
  const names = rows.map((row, at) => draw.text(0, middle(at), "start", row.name));
  const left = Math.max(size, ...names.map(name => name.getComputedTextLength() + 10)), right = draw.width - 1.6 * size;
  const more = (high - low) / 5, values = rows.map(row => within(row.value, low - more, high + more));
  const from = Math.min(low, ...values), to = Math.max(high, ...values);
  const x = value => left + ((within(value, from, to) - from) / (to - from)) * (right - left);
  for (const value of rounded(from, to, within((right - left) / (4 * size), 2, 10))) {
    draw.line("grid", x(value), 4, x(value), bottom);
    draw.text(x(value), bottom + size, "middle", tick(value));
  }
  rows.forEach((row, at) => {
    const y = middle(at), half = step * 0.36, [start, end] = [x(0), x(values[at])].sort((one, other) => one - other);
    if (bars) draw.shape("rect", { class: "bar", x: start, y: y - half, width: end - start, height: 2 * half }, told(row));
    else draw.shape("path", { class: "dot", d: `M${x(values[at])} ${y - 9}l9 9l-9 9l-9 -9z` }, told(row));
    draw.line("end", x(row.low), y, x(row.high), y);
    for (const limit of [row.low, row.high]) {
      if (limit >= from && limit <= to) draw.line("end", x(limit), y - 8, x(limit), y + 8); // else it goes on outside
    }
  });
};

// Both axes by powers of ten; `now` is where the poll stands, or 0.
export const drawErrors = (place, points, now, { across, up, acrossTick, upTick }) => {
  const draw = canvas(place, place.clientHeight), bottom = draw.height - 48, right = draw.width - 16;
  const axis = (values, start, end) => {
    const low = Math.min(...values) / 1.15, high = Math.max(...values) * 1.15;
    return { low, high, at: value => start + (Math.log(value / low) / Math.log(high / low)) * (end - start) };
  };
  const y = axis(points.map(point => point[1]), bottom, 8);
  const ticks = powers(y.low, y.high, [1, 2, 5]).map(value => [value, draw.text(0, y.at(value), "end", upTick(value))]);
  const left = 34 + Math.max(0, ...ticks.map(([, text]) => text.getComputedTextLength()));
  for (const [value, text] of ticks) {
    text.setAttribute("x", left - 8);
    draw.line("grid", left, y.at(value), right, y.at(value));
  }
  const x = axis([...points.map(point => point[0]), now || points[0][0]], left, right);
  for (const value of powers(x.low, x.high, draw.width < 480 ? [1] : [1, 2, 5])) {
    draw.line("grid", x.at(value), 8, x.at(value), bottom);
    draw.text(x.at(value), bottom + 14, "middle", acrossTick(value));
  }
  draw.text((left + right) / 2, bottom + 36, "middle", across);
  draw.text(0, 0, "middle", up, { transform: `translate(10 ${bottom / 2}) rotate(-90)` });
  draw.shape("polyline", { points: points.map(point => `${x.at(point[0])},${y.at(point[1])}`).join(" ") });
  for (const point of points) {
    draw.shape("circle", { class: "dot", cx: x.at(point[0]), cy: y.at(point[1]), r: 4 }, `${acrossTick(point[0])}: ${upTick(point[1])}`);
  }
  if (now) draw.line("now", x.at(now), 8, x.at(now), bottom);
};
