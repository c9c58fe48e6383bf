package model

import (
	"math/bits"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// The draws of minute k: sim.Draws' second argument.
const (
	drawChoice = iota // does it have a glitch
	drawStart         // and where
)

// glitchSource finds the minutes that have a glitch, one after the other. An
// exact number is spread by selection sampling: a minute is taken with
// probability (still to be taken) / (minutes left), which makes all subsets
// equally likely in one pass and constant memory (Fan, Muller and Rezucha
// 1962; Knuth, The Art of Computer Programming, volume 2, section 3.4.2,
// algorithm S).
type glitchSource struct {
	draws   sim.Draws
	horizon time.Duration
	length  time.Duration
	minute  uint64 // the next one to look at
	minutes uint64
	exact   bool
	wanted  uint64  // still to be taken, if exact
	chance  float64 // if not
	next    span    // the first glitch that merged has not returned
}

func newGlitchSource(g Generator, d sim.Draws) *glitchSource {
	s := &glitchSource{
		draws: d, horizon: g.Horizon, length: g.Glitches.Length,
		minutes: uint64(g.Horizon / time.Minute),
		exact:   g.Glitches.Count > 0,
		wanted:  uint64(g.Glitches.Count),
		chance:  g.Glitches.PerMinute,
	}
	if !s.exact && g.Horizon%time.Minute > 0 {
		s.minutes++
	}
	if !s.exact && s.chance == 0 {
		s.minutes = 0
	}
	s.next = s.single()
	return s
}

// single returns the next glitch, cut off at the horizon, or never.
func (s *glitchSource) single() span {
	for ; s.minute < s.minutes; s.minute++ {
		if !s.takes(s.minute) {
			continue
		}
		offset, _ := bits.Mul64(s.draws.Uint64(s.minute, drawStart), uint64(time.Minute))
		start := time.Duration(s.minute) * time.Minute
		s.minute++
		if time.Duration(offset) >= s.horizon-start {
			break
		}
		start += time.Duration(offset)
		return span{start, start + min(s.length, s.horizon-start)}
	}
	return never
}

func (s *glitchSource) takes(minute uint64) bool {
	if !s.exact {
		return s.draws.Float64(minute, drawChoice) < s.chance
	}
	if s.wanted == 0 {
		s.minute = s.minutes
		return false
	}
	pick, _ := bits.Mul64(s.draws.Uint64(minute, drawChoice), s.minutes-minute)
	if pick >= s.wanted {
		return false
	}
	s.wanted--
	return true
}

// merged returns the next longest run of glitches that overlap or touch.
func (s *glitchSource) merged() span {
	run := s.next
	if run == never {
		return never
	}
	for s.next = s.single(); s.next != never && s.next.start <= run.end; s.next = s.single() {
		run.end = s.next.end
	}
	return run
}
