// Package audio reads and writes recordings (WAV, FLAC, RF64, BW64, Wave64, AIFF and NIST SPHERE). It also parses lists of gaps, fills
// gaps by linear interpolation as a baseline, and scores fills.
//
//	file      header | samples, such as 16-bit PCM | other chunks     Container, Encoding
//	            v Open, File.Read
//	samples   .................????????????........................   float64, by channel
//	gap                        Start       End (exclusive)            Gap
//	mask      00000000000000000111111111111000000000000000000000000   Mask
//	fill                       -''-.._..-'-                           Change
//	            v File.Patch, Patch.Write
//	file      header | the same bits | fill | the same bits | other chunks
//
// Read a recording, replace samples and write it:
//
//	rec, err := audio.Open("in.wav")
//	patch, clipped, err := rec.Patch([]audio.Change{{Start: 1200, Values: [][]float64{fill}}})
//	err = patch.Write(w, rec.Container())
//
// Samples are float64 with full scale = 1, one slice per channel. A Recording also keeps the file it was decoded from. When it is written
// back, only the filled samples differ: every other sample, header and chunk is copied bit for bit. A File reads and writes a recording in
// parts, so the recording need not fit in memory.
package audio
