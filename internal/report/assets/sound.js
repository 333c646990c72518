// Recordings: the page holds the samples once, as 16-bit numbers, with what was
// filled into the gaps; the player's sound and waveforms are made of them here.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

function readRecording(script) {
  const r = JSON.parse(script.textContent), floats = (text) => text && new Float32Array(bytes(text));
  r.stretches = r.stretches.map((s) => ({ start: s.start, end: s.start + s.frames, pcm: new Int16Array(bytes(s.pcm)) }));
  r.gaps = (r.gaps || []).map((g) => Object.assign(g, {
    mean: floats(g.mean), sd: floats(g.sd), reference: g.reference && new Int16Array(bytes(g.reference)),
  }));
  return r;
}

// stretchOf is the stretch that holds frames [from, to), the one that reaches
// furthest around them; undefined if there is none.
function stretchOf(r, from, to) {
  const around = (s) => Math.min(from - s.start, s.end - to);
  return r.stretches.filter((s) => around(s) >= 0).reduce((best, s) => best && around(best) >= around(s) ? best : s, undefined);
}

// inGap calls f for each of a channel's frames [from, to) that a gap misses: the
// frame, and where the gap has it.
function inGap(g, channel, from, to, f) {
  if (g.channel && g.channel !== channel + 1) return;
  const first = g.channel ? 0 : channel * (g.end - g.start);
  for (let i = Math.max(from, g.start); i < Math.min(to, g.end); i++) f(i, first + i - g.start);
}

// sound is a stretch's samples before or after the fill, by channel.
function sound(r, s, filled) {
  const n = r.channels;
  return Array.from({ length: n }, (_, c) => {
    const out = new Float32Array(s.end - s.start);
    for (let i = 0; i < out.length; i++) out[i] = s.pcm[i * n + c] / 32768;
    // The filled file ends at full scale, too.
    if (filled) for (const g of r.gaps) if (g.mean) inGap(g, c, s.start, s.end, (i, k) => { out[i - s.start] = Math.max(-1, Math.min(1, g.mean[k])); });
    return out;
  });
}

// waveform is the spec of a chart of one channel's frames [from, to).
function waveform(r, figure) {
  const d = figure.dataset, from = +d.from, to = +d.to, channel = +d.channel, n = to - from;
  const s = stretchOf(r, from, to), none = () => new Array(n).fill(null), spans = [];
  const x = new Array(n), given = new Array(n), was = none(), mean = none(), lo = none(), hi = none(), truth = none();
  for (let i = 0; i < n; i++) {
    x[i] = (from + i) / r.rate;
    given[i] = s.pcm[(from - s.start + i) * r.channels + channel] / 32768;
  }
  const gaps = r.gaps.filter((g) => g.end > from && g.start < to && (!g.channel || g.channel === channel + 1));
  let known = false;
  for (const g of gaps) {
    spans.push([g.start / r.rate, g.end / r.rate]);
    if (g.mean) inGap(g, channel, from, to, (f, k) => {
      const i = f - from, m = g.mean[k], sd = 1.96 * g.sd[k];
      was[i] = given[i]; given[i] = null;
      mean[i] = m; lo[i] = m - sd; hi[i] = m + sd;
      if (g.reference) { truth[i] = g.reference[k] / 32768; known = true; }
    });
  }
  // The curves begin and end at the samples beside the gap.
  for (const g of gaps) {
    for (const i of [g.start - 1 - from, g.end - from]) {
      if (i < 0 || i >= n || given[i] === null) continue;
      was[i] = mean[i] = lo[i] = hi[i] = given[i];
      if (known) truth[i] = given[i];
    }
  }
  const line = (name, ink, y, more) => [y, Object.assign({ name, kind: "line", ink }, more)];
  const band = (y, more) => [y, Object.assign({ name: "95 % band", kind: "band", ink: "mean" }, more)];
  const drawn = [line("recording", "data", given)];
  if (r.filled) drawn.push(band(lo), band(hi, { over: true }), line("before", "draw", was, { hidden: true }));
  if (known) drawn.push(line("reference", "reference", truth));
  if (r.filled) drawn.push(line("mean", "mean", mean));
  const initial = d.lo ? [+d.lo / r.rate, +d.hi / r.rate] : null;
  return { x, data: drawn.map((l) => l[0]), series: drawn.map((l) => l[1]), spans: d.lo && r.filled ? [] : spans, initial, xLabel: "seconds", yLabel: "full scale" };
}
