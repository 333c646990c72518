package main

import (
	"context"
	"math"
	"time"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
)

const (
	channelsOnly  = "channels" // value of -only
	gapsEvery     = 0.6        // seconds
	channelSNRMax = 40.0       // upper limit of a gap's SNR in decibels; otherwise identical channels would dominate the mean
)

// channelGaps lists the lengths in seconds of the gaps in the first channel.
var channelGaps = []float64{0.005, 0.020, 0.100}

// channelLine fills gaps of the first channel without and with the other, intact channels. It returns nil if the
// recording is too short.
func channelLine(ctx context.Context, x [][]float64, rate int, seconds float64) (*repairLine, error) {
	l := &repairLine{Rate: rate, Length: float64(len(x[0])) / float64(rate), Made: "one channel", Level: 1000 * seconds}
	var gaps []audio.Gap
	n, every := audio.SamplesIn(seconds, rate), audio.SamplesIn(gapsEvery, rate)
	for at := every; at+n+every <= len(x[0]); at += every {
		gaps = append(gaps, audio.Gap{Start: at, End: at + n, Channel: 1})
	}
	if l.Places = len(gaps); l.Places == 0 {
		return nil, nil
	}
	alone, err := restore.Fill(ctx, x[:1], rate, gaps, restore.Options{})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	joint, err := restore.Fill(ctx, x, rate, gaps, restore.Options{})
	if err != nil {
		return nil, err
	}
	l.Filling, l.Joint = time.Since(began).Seconds(), joint.Joint()
	within := 0
	for k, g := range gaps {
		was, fill := x[0][g.Start:g.End], joint.Fills[k][0]
		l.Before += min(channelSNRMax, audio.SNR(was, alone.Fills[k][0].Mean, nil)) / float64(len(gaps))
		l.After += min(channelSNRMax, audio.SNR(was, fill.Mean, nil)) / float64(len(gaps))
		for i, v := range was {
			if math.Abs(v-fill.Mean[i]) <= 1.96*fill.SD[i] {
				within++
			}
		}
	}
	l.Coverage = float64(within) / float64(len(gaps)*n)
	return l, nil
}
