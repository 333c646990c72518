// Charts: what the page says of them becomes uPlot's options.
const charts = new Set(); // those on the page, to draw anew in other colours

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const day = (v, step) => new Date(1e3 * v).toISOString().slice(0, step < 86400 ? 16 : 10).replace("T", " ");
const place = (spec, v, step) => spec.dates && Number.isFinite(v) ? day(v, step ?? spec.x[1] - spec.x[0]) : digits(v);
const digits = (v) => v === null || v === undefined ? "–" : Number(v.toPrecision(6)).toString();

// mount draws spec into the element of class plot within a figure:
//   x, xLabel, yLabel, logY, dates (x is in seconds since 1970), initial [min, max], data [[y…], …] beside x,
//   series [{name, kind, ink, over, hidden}], one for each of data; a band is two, of
//   which the second says with over that it has the first one's key
//   stems {series: {x, y, lo, hi}}, labels [{x, y, text}], spans [[from, to], …],
//   to(x), called at a click
function mount(figure, spec) {
  const host = figure.querySelector(".plot");
  const here = element("p", { className: "here", ariaHidden: "true" });
  const series = [{}], bands = [];
  spec.series.forEach((s, i) => {
    series.push(seriesOf(s));
    if (s.over) bands.push({ series: [i + 1, i], fill: () => colour("band") });
  });
  const full = spec.full || [spec.x[0], spec.x[spec.x.length - 1]];
  if (!(full[1] > full[0])) { full[0] -= 0.5; full[1] += 0.5; }
  const start = spec.initial || full, size = full[1] - full[0];
  const least = Math.max(size * 1e-6, Math.min(size / 4, 8 * size / spec.x.length));
  const plot = new uPlot({
    width: host.clientWidth, height: host.clientHeight, series, bands,
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(1e3 * seconds), "Etc/UTC"),
    padding: [10, 14, 0, 0],
    cursor: { drag: { x: true, y: false }, points: { size: 6 }, lock: false },
    scales: {
      x: { time: !!spec.dates, range: (u, min, max) => min === null ? full : within(full, least, min, max) },
      y: { distr: spec.logY ? 3 : 1, range: (u, min, max) => room(min, max, spec) },
    },
    axes: [axis(cut(spec.xLabel, host.clientWidth - 90), spec.dates ? dateTicks : { size: 32 }), axis(cut(spec.yLabel, host.clientHeight - 70), { size: widest })],
    hooks: {
      draw: [(u) => { drawSpans(u, spec.spans || []); drawStems(u, spec); drawLabels(u, spec); placeHead(u); }],
      setCursor: [(u) => { here.textContent = readout(u, spec); }],
      setScale: [(u, key) => { if (key === "x") { figure.dataset.min = u.scales.x.min; figure.dataset.max = u.scales.x.max; } }],
    },
  }, [spec.x, ...spec.data], host);
  figure.chart = plot;
  charts.add(plot);
  const told = () => { said.textContent = `${place(spec, plot.scales.x.min)} to ${place(spec, plot.scales.x.max)}`; };
  const said = element("output", { ariaLive: "polite" });
  const to = zoomable(plot, host, full, told);
  to.show(start[0], start[1]);
  host.after(here, tools(to, told, said, figure), key(plot, spec));
  if (spec.to) plot.over.addEventListener("click", (e) => e.shiftKey || spec.to(plot.posToVal(e.offsetX, "x")));
  new ResizeObserver(() => { if (host.clientWidth) plot.setSize({ width: host.clientWidth, height: host.clientHeight }); }).observe(host);
}

// placeHead moves a plot's playhead, if it has one, to where in x it says.
function placeHead(plot) {
  const head = plot.head;
  if (!head) return;
  const left = plot.valToPos(head.x, "x");
  head.hidden = !(left >= 0 && left <= plot.over.clientWidth);
  head.style.transform = `translateX(${left}px)`;
}

function element(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

function seriesOf(s) {
  const ink = () => colour(s.ink), dots = s.kind === "points" || s.kind === "stems";
  const o = { label: s.name, show: !s.hidden, stroke: s.kind === "band" ? null : ink, width: s.ink === "mean" ? 2 : 1.2, points: { show: false } };
  if (dots) Object.assign(o, { paths: () => null, points: { show: true, size: 4, fill: ink, stroke: ink, width: 0 } });
  return o;
}

// dateTicks are the numbers' places of an axis of dates.
const dateTicks = { size: 32, space: 90, values: (u, at, i, space, step) => at.map((v) => v === null ? "" : day(v, step)) };

function axis(label, more) {
  return Object.assign({
    label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    stroke: () => colour("soft"), grid: { stroke: () => colour("line"), width: 0.5 }, ticks: { stroke: () => colour("line"), width: 1 },
    values: (u, at) => at.map((v) => v === null ? "" : digits(v)),
  }, more);
}

// cut shortens a label that is longer than so many pixels.
const cut = (text, room) => text.length * 7.5 <= room ? text : text.slice(0, Math.max(1, Math.floor(room / 7.5) - 1)) + "…";

// widest is the room that the y axis' numbers need.
function widest(u, values) {
  const longest = (values || []).reduce((n, v) => Math.max(n, v.length), 3);
  return 22 + 8 * longest;
}

// room is the y range: the data's and a little more, for labels some more on top.
function room(min, max, spec) {
  if (min === null || max === null) return spec.logY ? [0.1, 1] : [0, 1];
  const above = spec.labels && spec.labels.length ? 0.2 : 0.05;
  if (spec.logY) {
    const decades = Math.max(Math.log10(max / min), 0.1);
    return [min / 10 ** (0.02 * decades), max * 10 ** (above * decades)];
  }
  const size = max > min ? max - min : Math.abs(max) || 1;
  return [min - 0.05 * size, max + above * size];
}

// clipped draws within the chart's frame.
function clipped(u, draw) {
  const b = u.bbox, c = u.ctx;
  c.save();
  c.beginPath();
  c.rect(b.left, b.top, b.width, b.height);
  c.clip();
  draw(c, b);
  c.restore();
}

// drawSpans marks stretches of x, at least a dot wide.
function drawSpans(u, spans) {
  clipped(u, (c, b) => {
    c.fillStyle = colour("gap");
    for (const [from, to] of spans) {
      const lo = u.valToPos(from, "x", true), hi = u.valToPos(to, "x", true);
      if (hi >= b.left && lo <= b.left + b.width) c.fillRect(lo, b.top, Math.max(2 * devicePixelRatio, hi - lo), b.height);
    }
  });
}

// drawStems puts under each dot a stem, and through it its interval along x.
function drawStems(u, spec) {
  for (const [i, s] of Object.entries(spec.stems || {})) {
    if (!u.series[+i + 1].show) continue;
    clipped(u, (c, b) => {
      c.strokeStyle = colour(spec.series[i].ink);
      c.beginPath();
      s.x.forEach((v, k) => {
        const x = u.valToPos(v, "x", true), y = u.valToPos(s.y[k], "y", true);
        c.moveTo(x, b.top + b.height);
        c.lineTo(x, y);
        c.moveTo(u.valToPos(s.lo[k], "x", true), y);
        c.lineTo(u.valToPos(s.hi[k], "x", true), y);
      });
      c.lineWidth = devicePixelRatio;
      c.stroke();
    });
  }
}

// drawLabels writes the labels, the first ones first, that overlap none before
// and that no stem goes through; zooming in makes room for more.
function drawLabels(u, spec) {
  const dot = devicePixelRatio, taken = [];
  const tops = Object.entries(spec.stems || {}).filter(([i]) => u.series[+i + 1].show).flatMap(([, s]) =>
    s.x.map((v, k) => ({ x: u.valToPos(v, "x", true), y: u.valToPos(s.y[k], "y", true) })));
  clipped(u, (c, b) => {
    c.font = `${12 * dot}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.lineWidth = 4 * dot;
    c.lineJoin = "round";
    for (const l of spec.labels || []) {
      const x = u.valToPos(l.x, "x", true), half = c.measureText(l.text).width / 2 + 3 * dot;
      if (x < b.left || x > b.left + b.width) continue;
      const at = Math.min(Math.max(x, b.left + half), b.left + b.width - half);
      const y = Math.max(b.top + 14 * dot, u.valToPos(l.y, "y", true) - 8 * dot);
      if (taken.some((t) => Math.abs(t.at - at) < t.half + half && Math.abs(t.y - y) < 15 * dot)) continue;
      if (tops.some((t) => Math.abs(t.x - x) > dot && Math.abs(t.x - at) < half && t.y < y + 6 * dot)) continue;
      taken.push({ at, y, half });
      c.strokeStyle = colour("paper");
      c.strokeText(l.text, at, y);
      c.fillStyle = colour("text");
      c.fillText(l.text, at, y);
    }
  });
}

// readout is what is under the pointer.
function readout(u, spec) {
  const i = u.cursor.idx;
  if (i === null || i === undefined) return "";
  const parts = [`${spec.xLabel} ${place(spec, spec.x[i])}`];
  spec.series.forEach((s, k) => {
    const v = u.data[k + 1][i];
    if (v === null || v === undefined) return;
    if (s.kind !== "band") parts.push(`${s.name} ${digits(v)}`);
    else if (s.over) parts.push(`${s.name} ${digits(u.data[k][i])} … ${digits(v)}`);
  });
  return parts.join(" · ");
}

function tools(to, told, said, figure) {
  const name = figure.querySelector("strong").textContent;
  const button = (text, label, act) => {
    const b = element("button", { type: "button", textContent: text, ariaLabel: `${label}: ${name}` });
    b.addEventListener("click", () => { act(); told(); });
    return b;
  };
  return element("div", { className: "tools" },
    button("−", "Zoom out", () => to.zoom(2)), button("+", "Zoom in", () => to.zoom(0.5)),
    button("←", "Earlier", () => to.pan(-0.25)), button("→", "Later", () => to.pan(0.25)),
    button("All", "Show all", to.whole), said);
}

// key names the series; pressing a name hides or shows those of that name.
function key(plot, spec) {
  const row = element("div", { className: "key", role: "group", ariaLabel: "What is drawn" }), named = new Map();
  spec.series.forEach((s, i) => named.set(s.name, [...(named.get(s.name) || []), i + 1]));
  for (const [name, all] of named) {
    const b = element("button", { type: "button", ariaPressed: String(!spec.series[all[0] - 1].hidden) });
    b.append(swatch(spec.series[all[0] - 1]), name);
    b.addEventListener("click", () => {
      const show = b.ariaPressed !== "true";
      b.ariaPressed = String(show);
      for (const i of all) plot.setSeries(i, { show });
    });
    row.append(b);
  }
  return row;
}

function swatch(s) {
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), mark = document.createElementNS(ns, s.kind === "points" ? "circle" : "rect");
  svg.setAttribute("viewBox", "0 0 14 8");
  svg.setAttribute("aria-hidden", "true");
  const at = { line: { x: 0, y: 3, width: 14, height: 2 }, band: { x: 0, y: 0, width: 14, height: 8 }, points: { cx: 7, cy: 4, r: 3 }, stems: { x: 6, y: 0, width: 2, height: 8 } }[s.kind];
  for (const [name, v] of Object.entries(at)) mark.setAttribute(name, v);
  mark.setAttribute("fill", `var(--${s.kind === "band" ? "band" : s.ink})`);
  svg.append(mark);
  return svg;
}

// fromFigure is the spec of a chart that the page describes layer by layer.
function fromFigure(f) {
  const tables = [], series = [], stems = {};
  for (const l of f.layers) {
    const x = rising(l.x), s = { name: l.name, kind: l.kind, ink: l.ink };
    if (l.kind === "band") {
      tables.push([x, l.lo, l.hi]);
      series.push(s, Object.assign({ over: true }, s));
      continue;
    }
    if (l.kind === "stems") stems[series.length] = { x, y: l.y, lo: l.lo, hi: l.hi };
    tables.push([x, l.y]);
    series.push(s);
  }
  const [x, ...data] = uPlot.join(tables);
  return { x, data, series, stems, full: stretch(x, stems), labels: f.labels, xLabel: f.xLabel, yLabel: f.yLabel, logY: f.logY, dates: f.dates };
}

// stretch is the range of x; around stems a little more, so that none stands on
// the frame.
function stretch(x, stems) {
  let [lo, hi] = [x[0], x[x.length - 1]];
  const all = Object.values(stems);
  if (!all.length) return [lo, hi];
  for (const s of all) { lo = Math.min(lo, ...s.lo); hi = Math.max(hi, ...s.hi); }
  return [Math.min(0, lo) - 0.02 * hi, hi * 1.03];
}

// rising moves equal x apart by next to nothing: uPlot keeps one value for each.
function rising(x) {
  const least = (x[x.length - 1] - x[0]) * 1e-9;
  const out = x.slice();
  for (let i = 1; i < out.length; i++) if (out[i] <= out[i - 1]) out[i] = out[i - 1] + least;
  return out;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.redraw()));
