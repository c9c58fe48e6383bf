package model

import (
	"math/bits"
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

// at is the duration that a share of those recorded does not exceed, 0 if there
// are none.
func (q *quantiles) at(share float64) time.Duration {
	i := cell(q.counts.ValueAtQuantile(100 * share))
	if i >= len(q.longest) {
		return 0
	}
	return time.Duration(q.longest[i])
}

// count is the number of durations.
func (q *quantiles) count() int64 { return q.counts.TotalCount() }
