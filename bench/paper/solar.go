package paper

var solarSet = set{name: "solar"}
