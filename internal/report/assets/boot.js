// The page comes to life: charts and players that can be seen, others once
// their group is opened.
const script = document.getElementById("recording");
const recording = script && readRecording(script);

function enliven(root) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    if (figure.chart || !figure.querySelector(".plot").clientWidth) continue;
    const json = figure.querySelector("script");
    mount(figure, json ? fromFigure(JSON.parse(json.textContent)) : waveform(recording, figure));
  }
  for (const audio of root.querySelectorAll("audio")) {
    const group = audio.closest("details");
    if (!group || group.open) load(recording, audio); else unload(audio);
  }
}

for (const group of document.querySelectorAll("details")) group.addEventListener("toggle", () => enliven(group));
// One plays at a time, so that before and after can be told apart.
document.addEventListener("play", (e) => {
  for (const other of document.querySelectorAll("audio")) if (other !== e.target) other.pause();
}, true);
enliven(document);
document.documentElement.dataset.ready = "yes";
