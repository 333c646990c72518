// Package audio reads and writes recordings (WAV, FLAC, RF64, BW64, Wave64, AIFF and NIST SPHERE), names the gaps in them, fills gaps by
// the simple methods that a model is compared with (linear and autoregressive interpolation), and scores a fill.
//
// Samples are float64 with full scale = 1, one slice per channel. A Recording also keeps the file it came from, so that
// only the filled samples differ in the file written back: every other sample, header and chunk is copied bit for bit.
// A File is read in parts and patched in tiles, for recordings that do not fit in memory.
package audio
