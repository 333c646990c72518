// The player comes to life, if the page has a recording.
const script = document.getElementById("recording");
const recording = script && readRecording(script);
document.documentElement.dataset.ready = "yes"; // shows the player and what else needs scripts
const board = document.getElementById("player");
const sounding = board && recording.stretches.length ? player(recording, board) : null;
if (board) board.hidden = !sounding;
