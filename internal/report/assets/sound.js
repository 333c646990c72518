// Recordings: the page holds the samples once, as 16-bit numbers, with what was
// filled into the gaps; the player's sound is made of them here.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

function readRecording(script) {
  const r = JSON.parse(script.textContent), floats = (text) => text && new Float32Array(bytes(text));
  r.stretches = r.stretches.map((s) => ({ start: s.start, end: s.start + s.frames, pcm: new Int16Array(bytes(s.pcm)) }));
  r.gaps = (r.gaps || []).map((g) => Object.assign(g, { mean: floats(g.mean) }));
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
