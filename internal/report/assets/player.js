// The page's player: one engine, its buttons and keys, and the list of gaps to
// choose from.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const clock = (seconds) => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(3).padStart(6, "0")}`;
const leadIn = 0.3; // seconds before a gap, from where it is played

// player brings root to life for the recording r and returns what others call.
function player(r, root) {
  const p = { gap: null, looped: false, around: 0.3, go, select };
  const find = (name) => root.querySelector(`[data-do=${name}]`), name = (side) => side[0].toUpperCase() + side.slice(1);
  const e = p.engine = engine(r, () => { show(); say(); });
  const order = () => [...document.querySelectorAll("tr[data-number]")].map((row) => +row.dataset.number)
    .map((n) => r.gaps.find((g) => g.number === n)).filter((g) => g);

  // say tells people who do not see the page what is heard, show everyone else.
  function say() {
    const gap = p.gap ? `gap ${p.gap.number} of ${r.total}, ` : "";
    p.bar.say(e.now());
    root.querySelector(".said").textContent = `${e.playing ? "" : "Paused: "}${name(e.side)}, ${gap}${clock(e.now() / r.rate)}${p.looped ? ", looped" : ""}`;
  }
  function show() {
    const d = root.dataset, now = e.now();
    Object.assign(d, { state: e.playing ? "playing" : "paused", side: e.side, gap: p.gap ? p.gap.number : "", loop: e.loop ? e.loop.join(" ") : "", at: now });
    for (const side of ["before", "after", "difference"]) if (find(side)) find(side).ariaPressed = String(side === e.side);
    find("loop").ariaPressed = String(p.looped);
    find("toggle").ariaLabel = e.playing ? "Pause" : "Play";
    root.querySelector(".where").textContent = `${p.gap ? `gap ${p.gap.number} · ` : ""}${clock(now / r.rate)}`;
    p.bar.draw(now);
    if (e.playing) requestAnimationFrame(() => { if (e.playing) show(); });
  }
  // change is what the user did: it is shown and said.
  const change = (act) => (...given) => { act(...given); show(); say(); };

  // region is what a loop repeats in a stretch.
  function region(s) {
    if (!p.looped) return null;
    const side = Math.round(p.around * r.rate);
    return p.gap ? [Math.max(s.start, p.gap.start - side), Math.min(s.end, p.gap.end + side)] : [s.start, s.end];
  }
  // go plays on from a frame, out of the loop where the loop does not have it.
  function go(frame) {
    const s = frame >= e.stretch.start && frame < e.stretch.end ? e.stretch : stretchOf(r, frame, frame + 1);
    if (!s) return;
    if (e.loop && (frame < e.loop[0] || frame >= e.loop[1])) p.looped = false;
    e.set({ stretch: s, loop: region(s) }, frame);
  }
  // select goes to a gap, or with null to the recording's beginning.
  function select(gap) {
    const s = gap ? stretchOf(r, gap.start, gap.end) : r.stretches[0];
    if (gap && !s) return;
    p.gap = gap;
    const loop = region(s);
    e.set({ stretch: s, loop }, loop ? loop[0] : Math.max(s.start, gap ? gap.start - Math.round(leadIn * r.rate) : 0));
    for (const row of document.querySelectorAll("tr[data-number]")) row.ariaCurrent = gap && +row.dataset.number === gap.number ? "true" : null;
  }
  function step(by) {
    const all = order(), at = all.indexOf(p.gap);
    if (all.length) select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]);
  }

  p.bar = seekBar(r, p, root.querySelector(".seek"), change(go), change(select));
  p.act = {
    toggle: () => e.play(!e.playing), previous: () => step(-1), next: () => step(1),
    loop: () => { p.looped = !p.looped; e.set({ loop: region(e.stretch) }); },
  };
  if (r.filled) for (const side of ["before", "after", "difference"]) p.act[side] = () => e.set({ side });
  for (const [act, f] of Object.entries(p.act)) p.act[act] = change(f);
  p.set = {
    around: (v) => { p.around = +v; e.set({ loop: region(e.stretch) }); }, speed: (v) => e.set({ speed: +v }),
    volume: (v) => e.set({ volume: (v / 100) ** 2 }), raised: (v) => e.set({ raised: 10 ** (v / 20) }),
  };
  p.go = change(go);
  p.select = change((gap, playing) => { select(gap); if (playing) { p.looped = !!gap; e.set({ loop: region(e.stretch) }); e.play(true); } });
  listen(r, p, root);
  show();
  p.bar.say(e.now());
  return p;
}

// listen has clicks and keys call the player.
function listen(r, p, root) {
  for (const s of root.querySelectorAll("[data-set]")) s.addEventListener("input", () => p.set[s.dataset.set]?.(s.value));
  const gapOf = (n) => r.gaps.find((g) => g.number === +n);
  document.addEventListener("click", (event) => {
    if (event.target.closest("a[href='#player']")) { event.preventDefault(); root.querySelector("[data-do=toggle]").focus(); }
    const b = event.target.closest("[data-do], [data-select], [data-gap], [data-order]"), d = b && b.dataset;
    if (!b || b === root) return;
    if (d.do) p.act[d.do]();
    if (d.order) sortList(d.order);
    if (d.select) {
      p.select(gapOf(d.select));
      const section = document.getElementById("gap" + d.select);
      if (section) section.open = true; // the link scrolls there
    }
    if (d.gap) p.select(gapOf(d.gap) || null, true);
    if (event.detail && b.matches("button")) b.blur(); // so that after a click with a mouse Space plays and pauses
  });
  const keys = { " ": "toggle", b: "before", 1: "before", a: "after", 2: "after", d: "difference", 3: "difference", l: "loop", n: "next", p: "previous" };
  document.addEventListener("keydown", (event) => {
    const act = p.act[keys[event.key.toLowerCase()]], on = event.target;
    if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !root.querySelector("[data-set=keys]").checked) return;
    if (on.closest("input, select, textarea") || event.key === " " && on.closest("button, a, summary")) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
}

// sortList orders the list of gaps by a number that its rows have.
function sortList(by) {
  for (const body of document.querySelectorAll("table.gaps tbody")) body.append(...[...body.rows].sort((a, b) => a.dataset[by] - b.dataset[by]));
  for (const b of document.querySelectorAll("[data-order]")) b.ariaPressed = String(b.dataset.order === by);
}

// seekBar draws the stretch that plays: gaps above, to be clicked, and below them
// the place, which a click, a drag and keys move.
function seekBar(r, p, canvas, go, select) {
  const e = p.engine, c = canvas.getContext("2d"), near = 12; // pixels
  const toX = (frame) => (frame - e.stretch.start) / (e.stretch.end - e.stretch.start) * canvas.clientWidth;
  const toFrame = (x) => e.stretch.start + Math.max(0, Math.min(1, x / canvas.clientWidth)) * (e.stretch.end - e.stretch.start - 1);
  function draw(now) {
    const w = canvas.clientWidth, h = canvas.clientHeight, dot = devicePixelRatio;
    if (canvas.width !== Math.round(w * dot)) { canvas.width = Math.round(w * dot); canvas.height = Math.round(h * dot); }
    c.setTransform(dot, 0, 0, dot, 0, 0);
    c.clearRect(0, 0, w, h);
    const boxes = (ink, all, top, height, least) => {
      const scale = w / (e.stretch.end - e.stretch.start);
      let drawn = -1; // pixels: thousands of gaps are less than one apart
      c.fillStyle = colour(ink);
      for (const [from, to] of all) {
        const x = (from - e.stretch.start) * scale, end = Math.max(x + least, (to - e.stretch.start) * scale);
        if (end < drawn + 1) continue;
        c.fillRect(x, top * h, end - x, height * h);
        drawn = end;
      }
    };
    boxes("line", [[e.stretch.start, e.stretch.end]], 0.68, 0.14, 0);
    boxes("band", e.loop ? [e.loop] : [], 0, 1, 2);
    boxes("mark", r.gaps.filter((g) => g.end > e.stretch.start && g.start < e.stretch.end).map((g) => [g.start, g.end]), 0.06, 0.4, 2);
    boxes("focus", p.gap ? [[p.gap.start, p.gap.end]] : [], 0, 0.55, 4);
    boxes("text", [[now, now]], 0.5, 0.5, 2);
  }
  function say(now) {
    const [from, to, at] = [e.stretch.start, e.stretch.end, now].map((f) => f / r.rate);
    Object.assign(canvas, { ariaValueMin: from, ariaValueMax: to, ariaValueNow: at, ariaValueText: clock(at) });
  }
  let held = false;
  canvas.addEventListener("pointerdown", (event) => {
    const away = (g) => Math.max(toX(g.start) - event.offsetX, event.offsetX - toX(g.end), 0);
    const gap = r.gaps.reduce((best, g) => best && away(best) <= away(g) ? best : g, undefined);
    if (event.offsetY < canvas.clientHeight / 2 && gap && away(gap) <= near) return select(gap);
    held = true;
    canvas.setPointerCapture(event.pointerId);
    go(toFrame(event.offsetX));
  });
  canvas.addEventListener("pointermove", (event) => { if (held) go(toFrame(event.offsetX)); });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => { held = false; });
  const second = { ArrowLeft: -0.1, ArrowDown: -0.1, ArrowRight: 0.1, ArrowUp: 0.1, PageDown: -5, PageUp: 5, Home: -Infinity, End: Infinity };
  canvas.addEventListener("keydown", (event) => {
    const by = second[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(Math.max(e.stretch.start, Math.min(e.stretch.end - 1, e.now() + by * r.rate)));
  });
  new ResizeObserver(() => draw(e.now())).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(e.now()));
  return { draw, say };
}
