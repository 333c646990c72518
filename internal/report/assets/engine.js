// The engine plays a stretch of a recording. Its sounds before and after the fill
// begin together and run side by side, each under a gain; what is heard is a mix of
// the two, so a switch between them is heard at the same place, and outside the
// gaps not at all.
const switching = 0.01, fading = 0.005; // seconds

// mixOf is the gains of before and after.
const mixOf = (side, raised) => ({ before: [1, 0], after: [0, 1], difference: [-raised, raised] })[side];

function soundBuffer(r, s, filled) {
  const b = new AudioBuffer({ length: s.end - s.start, numberOfChannels: r.channels, sampleRate: r.rate });
  sound(r, s, filled).forEach((samples, c) => b.copyToChannel(samples, c));
  return b;
}

// voices starts buffers together in an audio context, when, from seconds at on, into
// one node, out; loop is [from, to] in seconds, or null.
function voices(ctx, buffers, when, at, loop, speed, mix) {
  const out = ctx.createGain();
  const gains = buffers.map((buffer, i) => {
    const source = ctx.createBufferSource(), gain = ctx.createGain();
    source.buffer = buffer;
    source.playbackRate.value = speed;
    if (loop) Object.assign(source, { loop: true, loopStart: loop[0], loopEnd: loop[1] });
    gain.gain.value = mix[i];
    source.connect(gain).connect(out);
    source.start(when, at);
    return { source, gain: gain.gain };
  });
  return { out, gains };
}

// glide takes a gain to a value within a time.
function glide(ctx, gain, value, time) {
  const now = ctx.currentTime;
  gain.cancelScheduledValues(now);
  gain.setValueAtTime(gain.value, now);
  gain.linearRampToValueAtTime(value, now + time);
}

// engine plays r. What can be set of it are side, raised, volume, speed, loop and
// stretch; set applies them at once, and with a new loop, speed or stretch goes to a
// frame. Frames are of the recording. ended is called when a stretch is over.
function engine(r, ended) {
  const e = { side: r.filled ? "after" : "before", raised: 1, volume: 1, speed: 1, loop: null, stretch: r.stretches[0], playing: false };
  let ctx, volume, run = null, at = e.stretch.start, made = {};
  const seconds = (frame) => (frame - e.stretch.start) / r.rate;

  // now is the frame that is heard.
  e.now = () => {
    if (!run) return at;
    let frame = at + Math.max(0, ctx.currentTime - run.when - (ctx.outputLatency || 0)) * r.rate * e.speed;
    if (e.loop && frame >= e.loop[1]) frame = e.loop[0] + (frame - e.loop[0]) % (e.loop[1] - e.loop[0]);
    return Math.min(frame, e.stretch.end);
  };
  function halt() {
    if (!run) return;
    for (const g of run.gains) { g.source.onended = null; g.source.stop(ctx.currentTime + 2 * fading); }
    glide(ctx, run.out.gain, 0, fading);
    run = null;
  }
  function begin() {
    if (!ctx) { // not before a press: browsers keep it silent until then
      // At the recording's own rate no sample is made up between others.
      try { ctx = new AudioContext({ sampleRate: r.rate }); } catch { ctx = new AudioContext(); }
      volume = ctx.createGain();
      volume.connect(ctx.destination);
    }
    ctx.resume();
    if (made.of !== e.stretch) made = { of: e.stretch, buffers: (r.filled ? [false, true] : [false]).map((filled) => soundBuffer(r, e.stretch, filled)) };
    volume.gain.value = e.volume;
    const when = ctx.currentTime + fading, loop = e.loop && e.loop.map(seconds);
    run = Object.assign(voices(ctx, made.buffers, when, seconds(at), loop, e.speed, mixOf(e.side, e.raised)), { when });
    run.out.gain.setValueAtTime(0, when);
    run.out.gain.linearRampToValueAtTime(1, when + fading);
    run.out.connect(volume);
    const mine = run;
    run.gains[0].source.onended = () => { if (run === mine) { run = null; at = e.stretch.start; e.playing = false; ended(); } };
  }
  // seek goes to a frame of the stretch.
  e.seek = (frame) => {
    halt();
    at = Math.max(e.stretch.start, Math.min(frame, e.stretch.end - 1));
    if (e.loop && (at < e.loop[0] || at >= e.loop[1])) at = e.loop[0];
    if (e.playing) begin();
  };
  e.play = (on) => {
    const frame = e.now();
    e.playing = on;
    e.seek(frame);
  };
  e.set = (what, frame = e.now()) => {
    const same = Object.keys(what).every((k) => ["side", "raised", "volume"].includes(k));
    Object.assign(e, what);
    if (!same) return e.seek(frame);
    if (!run) return;
    mixOf(e.side, e.raised).forEach((gain, i) => { if (run.gains[i]) glide(ctx, run.gains[i].gain, gain, switching); });
    glide(ctx, volume.gain, e.volume, switching);
  };
  return e;
}
