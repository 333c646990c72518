// Package spoil makes damage in undamaged recordings, and knows where it is.
package spoil

import "github.com/vssgp/vssgp/audio"

// Damage is made damage.
type Damage struct {
	audio.Gap
	Kind  string  // a click's Shape
	Level float64 // decibels over the sound around, of what was added to it; 0 where it was replaced
}
