package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) imputeCommand() *cobra.Command {
	o := &imputeFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "impute IN.wav -o OUT.wav",
		Short: "Fill gaps in a recording",
		Long: `Fills the gaps of a WAV, FLAC, RF64, W64, AIFF or SPHERE file. The samples inside a gap are never
read; samples outside the gaps are copied bit for bit, in the same sample format. The output's
extension says its container (.wav, .flac, .rf64, .w64, .aiff, .sph); stdout gets the input's.

The default, --method mixture, evens the pitch and the level of the sound around a
gap, and fills the gap with what a stationary process of that spectrum expects there,
gap by gap and channel by channel. How pitch and level move is uncertain, so the fill
is a mixture over several guesses, and its error bars hold their spread. Recipes for
voices and for steady sounds are weighed by how they fill made gaps of the same length
beside the real one.

The other methods: ar is the best simple fill, an autoregressive model whose length
such trials choose; mixture is compared with it. vssgp fits an excerpt around each
gap (--context on each side, joined where they meet) with a model of its own, whose
predictive mean fills the gap; the channels are its outputs. ssgp and rp are the same
with point frequencies. The flags that set this model (--context, --components,
--window, --model, …) choose vssgp if there is no --method.

Gaps are given by --gap (START:END, the end exclusive, in samples from 0 or in
times such as 0.5s:520ms, and @CHANNEL if it is one channel's), by --gaps FILE (CSV with
the columns start,end and perhaps channel, or Audacity labels), marked in the file itself
(--cues: cue points with a length of WAV, RF64 and BW64) or found by --detect:

  clicks     bursts of up to 60 samples that the sound on either side does not
             explain, and crackle; attacks, plosives and the pulses of a voice stay
  dropouts   sound that stops for a moment: zeros, zeros with dither, held samples
  zeros      runs of exact zeros that are no silence: lead-ins, pauses and tails stay
  clipped    samples at the largest values: the fill lies at or beyond them

What is found is said, with --labels written as Audacity labels, and drawn by --report;
--dry-run stops there. Channels that miss nothing come out bit for bit. Gaps whose fill
should not be trusted are named, with the reason.

With --out-dir all recordings of a folder are filled into another one; - is stdin or,
after -o, stdout.

Only the samples around the gaps are held in memory, and the output is copied from
the input a tile at a time, so a recording may be longer than memory holds.
--overwrite lets -o be the input itself.

--reference CLEAN.wav scores the fill beside silence, linear interpolation and
ar: RMSE over the gaps (test) and over the observed samples around them (train), the
same of the short-time Fourier transform, and how many of the gaps' samples the 95 %
intervals cover. Silence predicts 0 everywhere, and vssgp its mean; the other fills
reproduce what is observed, so their training error is 0.`,
		Example: `  vssgp impute record.flac --detect clicks -o repaired.flac
  vssgp impute take.wav --gap 1200:1240 --gap 0.5s:0.52s -o out.wav --sd out-sd.csv
  vssgp impute marked.wav --cues -o out.flac
  vssgp impute take.wav --detect dropouts,clipped --dry-run --labels found.txt
  vssgp impute takes --detect dropouts --out-dir repaired --labels 'repaired/{}.txt'
  vssgp impute cut.wav --gaps gaps.csv --reference clean.wav --report out.html -o out.wav`,
	}, func(ctx context.Context, args []string) error { return a.impute(ctx, args[0], o) }, input("IN.wav", recordingFiles))
	o.add(cmd.Flags())
	return cmd
}

func (a *app) impute(ctx context.Context, input string, o *imputeFlags) error {
	if o.outDir != "" {
		return a.imputeFolder(ctx, input, o)
	}
	return a.imputeOne(ctx, input, o)
}
