package model

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// quantiles counts durations in cells 1 % wide, and keeps the longest of each
// cell: a quantile is a duration that occurred, and exact wherever a cell has
// only one.
type quantiles struct {
	counts  *hdrhistogram.Histogram
	longest []int64 // by cell
}

// The cells of the histogram: one for each value below 2·2^halfCell, then
// 2^halfCell for each doubling.
const (
	figures  = 2 // decimal digits that are kept
	halfCell = 7 // the power of two from 10^figures on
	longest  = int64(1) << 62
)

func newQuantiles() *quantiles { return &quantiles{counts: hdrhistogram.New(1, longest, figures)} }

// cell is the number of the cell that a value is in.
func cell(v int64) int {
	shift := max(bits.Len64(uint64(v))-halfCell-1, 0)
	return shift<<halfCell + int(v>>shift)
}

// record counts a duration from 0 on.
func (q *quantiles) record(d time.Duration) {
	v := min(int64(d), longest)
	_ = q.counts.RecordValue(v) // the range holds every duration of a run
	i := cell(v)
	if i >= len(q.longest) {
		q.longest = append(q.longest, make([]int64, i+1<<halfCell-len(q.longest))...)
	}
	q.longest[i] = max(q.longest[i], v)
}

// at is the shortest of the durations that a share of those recorded does not
// exceed, 0 if there are none.
func (q *quantiles) at(share float64) time.Duration { return q.of(q.counts, share) }

// of is the same of some of the durations.
func (q *quantiles) of(some *hdrhistogram.Histogram, share float64) time.Duration {
	n := float64(some.TotalCount())
	rank := max(math.Ceil(share*n-1e-9), 1)                  // of n in order
	i := cell(some.ValueAtQuantile(100 * (rank - 0.25) / n)) // which rounds to the nearest rank
	if i >= len(q.longest) {
		return 0
	}
	return time.Duration(q.longest[i])
}

// A Latencies is the latencies of a client's requests up to some instant.
type Latencies struct{ q quantiles }

// Latencies returns those of the requests that have ended so far, of those that
// started from Warmup on. It panics if there is no such client.
func (s *System) Latencies(client string) *Latencies {
	q := s.latencies(client)
	return &Latencies{quantiles{q.counts.Clone(), slices.Clone(q.longest)}}
}

// QuantileSince returns the quantile, as [System.LatencyQuantile] has it, of the
// requests that have ended since an earlier instant of the same run, nil for its
// beginning, and whether there are any.
func (l *Latencies) QuantileSince(earlier *Latencies, share float64) (d time.Duration, ok bool) {
	if earlier == nil {
		return l.q.at(share), l.q.count() > 0
	}
	now, was := l.q.counts.Export(), earlier.q.counts.Export()
	for i := range now.Counts {
		now.Counts[i] -= was.Counts[i]
	}
	some := hdrhistogram.Import(now)
	return l.q.of(some, share), some.TotalCount() > 0
}

// count is the number of durations.
func (q *quantiles) count() int64 { return q.counts.TotalCount() }
