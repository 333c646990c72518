// Package audio reads and writes recordings (WAV, FLAC, RF64, BW64, Wave64, AIFF and NIST SPHERE), names the gaps in them, joins the
// samples next to a gap by a straight line, which a model is compared with, and scores a fill.
//
// Samples are float64 with full scale = 1, one slice per channel. A Recording also keeps the file it came from, so that
// only the filled samples differ in the file written back: every other sample, header and chunk is copied bit for bit.
// A File is read in parts and patched in tiles, for recordings that do not fit in memory.
package audio
