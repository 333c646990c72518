"use strict";
// The player. The sounds before and after the fill and the reference play simultaneously, each with its own gain, so that switching between
// them keeps the position. The page contains the samples of clips as 16-bit numbers, and the fills and reference samples of their gaps.
const { rate, channels, clips, gaps, gain = 1 } = JSON.parse(document.getElementById("recording").textContent);
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
for (const c of clips) c.pcm = new Int16Array(bytes(c.pcm));
for (const g of gaps) for (const kind of ["mean", "reference"]) g[kind] &&= new Float32Array(bytes(g[kind]));

const form = document.getElementById("player"), controls = form.elements, bar = form.querySelector("svg");
const fade = 0.01, leadIn = 0.3; // seconds: fade time of a switch, and playback before a gap
let clip, gap, at, run, context; // at is the frame at which playback starts
const clock = (frame) => `${Math.floor(frame / rate / 60)}:${(frame / rate % 60).toFixed(3).padStart(6, "0")}`;
const inClip = () => gaps.filter((g) => g.end > clip.start && g.start < clip.end);

// sound returns the clip with its gaps filled by a kind of samples, mean or reference. Other kinds return the original clip.
function sound(kind) {
  const buffer = new AudioBuffer({ length: clip.end - clip.start, numberOfChannels: channels, sampleRate: rate });
  for (let c = 0; c < channels; c++) {
    const out = buffer.getChannelData(c);
    for (let i = 0; i < out.length; i++) out[i] = clip.pcm[i * channels + c] / 32768;
    for (const g of inClip()) {
      if (!g[kind] || g.channel && g.channel !== c + 1) continue;
      const values = g[kind].subarray((g.channel ? 0 : c) * (g.end - g.start));
      for (let i = Math.max(g.start, clip.start); i < Math.min(g.end, clip.end); i++) {
        out[i - clip.start] = Math.max(-1 / gain, Math.min(1 / gain, values[i - g.start])); // clipped like the filled file
      }
    }
  }
  return buffer;
}

// gains returns the gains of the sounds before and after the fill and of the reference.
function gains() {
  const raised = 10 ** (controls.raised?.value / 20);
  return { before: [1, 0, 0], after: [0, 1, 0], reference: [0, 0, 1], difference: [-raised, raised, 0] }[controls.side.value];
}

// region returns the part that a loop repeats.
function region() {
  const around = controls.around.value * rate;
  return gap ? [Math.max(clip.start, gap.start - around), Math.min(clip.end, gap.end + around)] : [clip.start, clip.end];
}

// now returns the current frame.
function now() {
  if (!run) return at;
  const frame = at + Math.max(0, context.currentTime - run.when) * rate * run.speed, [from, to] = run.loop ?? [];
  return frame >= to ? from + (frame - from) % (to - from) : Math.min(frame, clip.end);
}

function pause() {
  at = now();
  run?.out.gain.setTargetAtTime(0, context.currentTime, fade / 4);
  for (const source of run?.sources ?? []) {
    source.onended = null;
    source.stop(context.currentTime + 2 * fade);
  }
  run = null;
  show();
}

function play() {
  pause();
  context ??= new AudioContext({ sampleRate: rate }); // browsers mute it if it is created before a click
  context.resume();
  clip.sounds ??= form.dataset.kinds.split(" ").map(sound);
  const loop = controls.loop.checked ? region() : null, [from, to] = loop ?? [clip.start, clip.end];
  if (at < from || at >= to) at = from;
  const when = context.currentTime + fade, speed = +controls.speed.value, seconds = (frame) => (frame - clip.start) / rate;
  const out = new GainNode(context, { gain: 0 });
  out.connect(context.destination);
  out.gain.setTargetAtTime(gain, when, fade / 4);
  const levels = clip.sounds.map((_, i) => new GainNode(context, { gain: gains()[i] }));
  const sources = clip.sounds.map((buffer, i) => {
    const source = new AudioBufferSourceNode(context, {
      buffer, playbackRate: speed, loop: controls.loop.checked, loopStart: seconds(from), loopEnd: seconds(to),
    });
    source.connect(levels[i]).connect(out);
    source.start(when, seconds(at));
    return source;
  });
  sources[0].onended = () => { pause(); at = clip.start; show(); };
  run = { sources, levels, out, loop, speed, when };
  show();
}

// go moves to a frame. If the frame is outside the loop, it ends the loop.
function go(frame) {
  const playing = run, [from, to] = region();
  pause();
  at = frame;
  if (at < from || at >= to) controls.loop.checked = false;
  if (playing) play(); else show();
}

// select moves to the gap with a number, in the clip with the longest context. If there is no such gap, it moves to the beginning.
function select(number) {
  const playing = run, around = (c) => gap ? Math.min(gap.start - c.start, c.end - gap.end) : -c.start;
  if (playing) pause();
  gap = gaps.find((g) => g.number === number);
  clip = clips.reduce((best, c) => around(c) > around(best) ? c : best);
  at = controls.loop.checked ? region()[0] : gap ? Math.max(clip.start, gap.start - leadIn * rate) : clip.start;
  controls.gap.value = number;
  Object.assign(controls.position, { min: clip.start, max: clip.end - 1 });
  bar.setAttribute("viewBox", `${clip.start} 0 ${clip.end - clip.start} 1`);
  bar.querySelector("path").setAttribute("d", inClip().map((g) => `M${g.start} .2V.8H${g.end}V.2`).join(""));
  for (const a of document.querySelectorAll("th a")) a.ariaCurrent = a.hash === "#gap" + number ? "true" : null;
  if (playing) play(); else show();
}

// show updates the controls, repeatedly during playback.
function show() {
  const frame = now(), [from, to] = controls.loop.checked ? region() : gap ? [gap.start, gap.end] : [0, 0];
  bar.querySelector("rect").setAttribute("x", from);
  bar.querySelector("rect").setAttribute("width", to - from);
  controls.position.value = frame;
  controls.position.ariaValueText = controls.time.value = clock(frame);
  controls.play.textContent = run ? "Pause" : "Play";
  const shown = run;
  if (run) requestAnimationFrame(() => run === shown && show());
}

function step(by) {
  const all = controls.gap.options;
  select(+all[(controls.gap.selectedIndex + by + all.length) % all.length].value);
}
const mix = () => run?.levels.forEach((level, i) => level.gain.setTargetAtTime(gains()[i], context.currentTime, fade / 4));
const again = () => run ? play() : show();
const actions = {
  play: () => run ? pause() : play(), previous: () => step(-1), next: () => step(1), gap: () => select(+controls.gap.value),
  position: () => go(+controls.position.value), side: mix, raised: mix, loop: again, around: again, speed: again,
};
form.addEventListener("click", (event) => actions[event.target.closest("button")?.name]?.());
form.addEventListener("input", (event) => actions[event.target.name]?.());
bar.addEventListener("click", (event) => { // selects the nearest gap
  const frame = clip.start + (clip.end - clip.start) * event.offsetX / bar.clientWidth;
  const away = (g) => Math.max(g.start - frame, frame - g.end);
  const nearest = inClip().sort((a, b) => away(a) - away(b))[0];
  if (nearest) select(nearest.number);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("th a"), button = event.target.closest("button.play");
  if (!link && !button) return;
  const number = link ? +link.hash.slice(4) : +button.value;
  if (button) controls.loop.checked = number > 0;
  select(number);
  if (button) {
    play();
    controls.play.focus({ preventScroll: true }); // so that the space bar pauses
  }
  document.getElementById("gap" + number)?.setAttribute("open", ""); // the link scrolls to it
});
document.addEventListener("keydown", (event) => {
  const control = form.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`), on = event.target;
  if (!control || !controls.keys.checked || event.ctrlKey || event.metaKey || event.altKey || on.closest("select")) return;
  if (event.key === " " && on.closest("a, button, summary, [type=checkbox]")) return;
  event.preventDefault();
  control.click();
});

for (const a of document.querySelectorAll("th a")) {
  const number = +a.hash.slice(4);
  controls.gap.add(new Option(`${a.textContent} at ${clock(gaps.find((g) => g.number === number).start)}`, number));
}
document.documentElement.dataset.scripts = "on"; // shows elements that require scripts
select(0);
