// Package timewarp fills gaps in sound. Around a gap the pitch may glide and the level may change, so the signal there is taken for a
// mixture of processes, each of them stationary once time is warped and the level is evened (Clock). A recipe says how the
// clocks are weighed and how a spectrum is estimated; a menu's recipes are weighed by trial gaps close by.
package timewarp
