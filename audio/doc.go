// Package audio reads and writes recordings (WAV and NIST SPHERE), names the gaps in them, fills gaps by the simple
// methods that a model is compared with (silence, linear interpolation, autoregressive interpolation), and scores a
// fill.
//
// Samples are float64 with full scale = 1, one slice per channel. A Recording also keeps the file it came from, so that
// what is written back differs in the filled samples alone: every other sample, and every header and chunk, comes out
// bit for bit as it went in. A File is read in parts, and patched in tiles, for recordings that memory does not hold.
package audio
