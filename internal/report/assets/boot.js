// The page comes to life: charts that can be seen, others once their group is
// opened, and the player.
const script = document.getElementById("recording");
const recording = script && readRecording(script);

function enliven(root) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    if (figure.chart || !figure.querySelector(".plot").clientWidth) continue;
    const json = figure.querySelector("script");
    mount(figure, json ? fromFigure(JSON.parse(json.textContent)) : Object.assign(waveform(recording, figure), { to: (x) => sounding?.go(x * recording.rate) }));
  }
}

for (const group of document.querySelectorAll("details")) group.addEventListener("toggle", () => enliven(group));
document.documentElement.dataset.ready = "yes"; // shows the player and what else needs scripts
enliven(document);
const board = document.getElementById("player");
const sounding = board && recording.stretches.length ? player(recording, board) : null;
if (board) board.hidden = !sounding;
