// Recordings: the page holds the samples once, as 16-bit numbers, with what was
// filled into the gaps; players and waveforms are made of them here.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

function readRecording(script) {
  const r = JSON.parse(script.textContent);
  r.stretches = r.stretches.map((s) => ({ start: s.start, end: s.start + s.frames, before: new Int16Array(bytes(s.pcm)) }));
  r.gaps = (r.gaps || []).map((g) => ({
    start: g.start, end: g.end, mean: new Float32Array(bytes(g.mean)), sd: new Float32Array(bytes(g.sd)),
    reference: g.reference && new Int16Array(bytes(g.reference)),
  }));
  return r;
}

// samples are frames [from, to) of one stretch, before or after the fill.
function samples(r, from, to, filled) {
  const s = r.stretches.find((s) => s.start <= from && to <= s.end), n = r.channels;
  const out = s.before.slice((from - s.start) * n, (to - s.start) * n);
  if (!filled) return out;
  for (const g of r.gaps) {
    for (let i = Math.max(from, g.start); i < Math.min(to, g.end); i++) {
      for (let c = 0; c < n; c++) {
        const v = g.mean[c * (g.end - g.start) + i - g.start] * 32768;
        out[(i - from) * n + c] = Math.max(-32768, Math.min(32767, Math.round(v)));
      }
    }
  }
  return out;
}

// wav is a WAV file of 16-bit samples.
function wav(r, pcm) {
  const head = new DataView(new ArrayBuffer(44)), n = r.channels;
  const word = (at, text) => [...text].forEach((c, i) => head.setUint8(at + i, c.charCodeAt(0)));
  word(0, "RIFF"); head.setUint32(4, 36 + pcm.byteLength, true); word(8, "WAVEfmt ");
  head.setUint32(16, 16, true); head.setUint16(20, 1, true); head.setUint16(22, n, true);
  head.setUint32(24, r.rate, true); head.setUint32(28, r.rate * n * 2, true); head.setUint16(32, n * 2, true); head.setUint16(34, 16, true);
  word(36, "data"); head.setUint32(40, pcm.byteLength, true);
  return new Blob([head, pcm], { type: "audio/wav" });
}

// load gives a player its sound. A browser bears only so many players at once,
// so those in a closed group have none.
function load(r, audio) {
  if (audio.src) return;
  const d = audio.dataset;
  audio.src = URL.createObjectURL(wav(r, samples(r, +d.from, +d.to, d.side === "after")));
}

function unload(audio) {
  if (!audio.src) return;
  URL.revokeObjectURL(audio.src);
  audio.removeAttribute("src");
  audio.load();
}

// waveform is the spec of a chart of one channel's frames [from, to).
function waveform(r, figure) {
  const d = figure.dataset, from = +d.from, to = +d.to, channel = +d.channel, n = to - from;
  const pcm = samples(r, from, to, false), none = () => new Array(n).fill(null);
  const x = new Array(n), given = new Array(n), mean = none(), lo = none(), hi = none(), truth = none(), spans = [];
  for (let i = 0; i < n; i++) {
    x[i] = (from + i) / r.rate;
    given[i] = pcm[i * r.channels + channel] / 32768;
  }
  let known = false;
  for (const g of r.gaps) {
    if (g.end <= from || g.start >= to) continue;
    spans.push([g.start / r.rate, g.end / r.rate]);
    const at = channel * (g.end - g.start);
    for (let i = Math.max(from, g.start); i < Math.min(to, g.end); i++) {
      const k = at + i - g.start, m = g.mean[k], s = 1.96 * g.sd[k];
      given[i - from] = null;
      mean[i - from] = m; lo[i - from] = m - s; hi[i - from] = m + s;
      if (g.reference) { truth[i - from] = g.reference[k] / 32768; known = true; }
    }
  }
  // The curves begin and end at the samples beside the gap.
  for (const g of r.gaps) {
    for (const i of [g.start - 1 - from, g.end - from]) {
      if (i < 0 || i >= n || given[i] === null) continue;
      mean[i] = lo[i] = hi[i] = given[i];
      if (known) truth[i] = given[i];
    }
  }
  const series = [{ name: "recording", kind: "line", ink: "data" }, { name: "95 % band", kind: "band", ink: "mean" },
    { name: "95 % band", kind: "band", ink: "mean", over: true }, { name: "reference", kind: "line", ink: "reference" }, { name: "mean", kind: "line", ink: "mean" }];
  const data = [given, lo, hi, truth, mean];
  if (!known) { series.splice(3, 1); data.splice(3, 1); }
  const initial = d.lo ? [+d.lo / r.rate, +d.hi / r.rate] : null;
  return { x, data, series, spans: d.lo ? [] : spans, initial, xLabel: "seconds", yLabel: "full scale" };
}
