// Zooming and panning along x, by wheel, drag, touch, keys and buttons. Every
// way asks the plot for a range, of which within makes one that lies in the
// data and is not narrower than least.
function within(full, least, min, max) {
  const width = Math.min(full[1] - full[0], Math.max(least, max - min));
  min = Math.min(Math.max(full[0], (min + max - width) / 2), full[1] - width);
  return [min, min + width];
}

function zoomable(plot, host, full, told) {
  const range = () => [plot.scales.x.min, plot.scales.x.max];
  const show = (min, max) => plot.setScale("x", { min, max });
  function zoom(factor, at) {
    const [min, max] = range();
    if (at === undefined) at = (min + max) / 2;
    show(at - (at - min) * factor, at + (max - at) * factor);
  }
  function pan(share) {
    const [min, max] = range();
    show(min + share * (max - min), max + share * (max - min));
  }
  const whole = () => show(full[0], full[1]);
  const isWhole = () => { const [min, max] = range(); return max - min >= (full[1] - full[0]) * 0.999999; };

  wheel(plot, zoom, pan, isWhole);
  touch(plot, range, show);
  shiftDrag(plot, range, show);
  const keys = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "_": () => zoom(2),
    ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), Home: () => pan(-1e9), End: () => pan(1e9), "0": whole, Escape: whole,
  };
  host.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
    told();
  });
  // uPlot's own double click shows the data's range; so does ours.
  plot.over.addEventListener("dblclick", whole);
  return { zoom, pan, whole, show };
}

// wheel: away from you zooms in on what is under the pointer. Zooming out of
// the whole is left to the page, which scrolls.
function wheel(plot, zoom, pan, isWhole) {
  plot.over.addEventListener("wheel", (e) => {
    const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (isWhole() && (sideways || e.deltaY > 0)) return;
    e.preventDefault();
    if (sideways) return pan(Math.sign(e.deltaX) * 0.1);
    zoom(e.deltaY < 0 ? 0.8 : 1.25, plot.posToVal(e.offsetX, "x"));
  }, { passive: false });
}

// touch: one finger moves the chart sideways (up and down scrolls the page),
// two spread it.
function touch(plot, range, show) {
  const fingers = new Map();
  let from = null; // where the fingers were, and the range then
  const grip = () => {
    const xs = [...fingers.values()];
    from = xs.length ? { xs, range: range(), width: plot.over.clientWidth } : null;
  };
  plot.over.addEventListener("pointerdown", (e) => {
    if (e.pointerType !== "touch") return;
    fingers.set(e.pointerId, e.clientX);
    grip();
  });
  const up = (e) => { if (fingers.delete(e.pointerId)) grip(); };
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) plot.over.addEventListener(kind, up);
  plot.over.addEventListener("pointermove", (e) => {
    if (!fingers.has(e.pointerId)) return;
    fingers.set(e.pointerId, e.clientX);
    const xs = [...fingers.values()], [min, max] = from.range, unit = (max - min) / from.width;
    if (xs.length === 1) {
      const by = (from.xs[0] - xs[0]) * unit;
      return show(min + by, max + by);
    }
    const left = plot.over.getBoundingClientRect().left;
    const spread = Math.max(20, Math.abs(from.xs[1] - from.xs[0])) / Math.max(20, Math.abs(xs[1] - xs[0]));
    const was = min + ((from.xs[0] + from.xs[1]) / 2 - left) * unit; // the value under the fingers' middle
    const now = ((xs[0] + xs[1]) / 2 - left) / from.width;
    const width = (max - min) * spread;
    show(was - now * width, was + (1 - now) * width);
  });
}

// shiftDrag moves the chart with the mouse; a drag without Shift selects what
// to zoom to, which is uPlot's own.
function shiftDrag(plot, range, show) {
  plot.over.addEventListener("mousedown", (e) => {
    if (!e.shiftKey && e.button !== 1) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    const [min, max] = range(), x = e.clientX, unit = (max - min) / plot.over.clientWidth;
    const move = (m) => show(min + (x - m.clientX) * unit, max + (x - m.clientX) * unit);
    const end = () => { removeEventListener("mousemove", move); removeEventListener("mouseup", end); };
    addEventListener("mousemove", move);
    addEventListener("mouseup", end);
  }, true);
}
