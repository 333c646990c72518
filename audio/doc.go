// Package audio reads and writes recordings (WAV, FLAC, RF64, BW64, Wave64, AIFF and NIST SPHERE). It also parses lists of gaps, fills
// gaps by linear interpolation as a baseline, and scores fills.
//
// Samples are float64 with full scale = 1, one slice per channel. A Recording also keeps the file it was decoded from. When it is written
// back, only the filled samples differ: every other sample, header and chunk is copied bit for bit. A File reads and writes a recording in
// parts, so the recording need not fit in memory.
package audio
