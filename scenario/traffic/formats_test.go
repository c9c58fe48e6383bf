package traffic

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A plainCall is a call in milliseconds since 2025-10-09 08:53:20 UTC.
type plainCall struct {
	start, latency int
	failed         bool
}

const plainEpoch = 1760000000

// plainCalls are calls of 200 s, all of different starts, most of which fail
// in one or two stretches.
func plainCalls(seed uint64) (list []plainCall) {
	random := rand.New(rand.NewPCG(seed, 8))
	at := 100
	for at < 200_000 {
		share := 0.02
		if from := at / 1000; from >= 50 && from < 80 || from >= 120 && from < 120+int(seed%3)*10 {
			share = 0.9
		}
		list = append(list, plainCall{at, 1 + random.IntN(400), random.Float64() < share})
		at += 1 + random.IntN(199)
	}
	return list
}

// The writers of the formats, each in the order in which its program writes:
// vegeta and JMeter stamp the start of a call, k6 and access logs its end.
var writers = map[Format]func(*strings.Builder, []plainCall){
	K6CSV: func(b *strings.Builder, calls []plainCall) {
		b.WriteString("metric_name,timestamp,metric_value,error,expected_response,method,name,status\n")
		for _, c := range byEnd(calls) {
			end := plainEpoch*1_000_000 + int64(c.start+c.latency)*1000 // K6_CSV_TIME_FORMAT=unix_micro
			fmt.Fprintf(b, "http_reqs,%d,1.000000,,%t,GET,/s,%d\n", end, !c.failed, c.status())
			fmt.Fprintf(b, "http_req_duration,%d,%d.000000,,%t,GET,/s,%d\n", end, c.latency, !c.failed, c.status())
		}
	},
	VegetaCSV: func(b *strings.Builder, calls []plainCall) {
		for i, c := range byEnd(calls) {
			fmt.Fprintf(b, "%d,%d,%d,0,512,%s,,attack,%d\n", plainEpoch*1_000_000_000+int64(c.start)*1_000_000, c.status(), c.latency*1_000_000, map[bool]string{true: "503 Service Unavailable"}[c.failed], i)
		}
	},
	JMeterCSV: func(b *strings.Builder, calls []plainCall) {
		b.WriteString(jtlHeader)
		for _, c := range byEnd(calls) {
			fmt.Fprintf(b, "%d,%d,buy,%d,text,t 1-1,text,%t,,300,120,5,5,null,%d,0,1\n", plainEpoch*1000+c.start, c.latency, c.status(), !c.failed, c.latency)
		}
	},
	AccessLog: func(b *strings.Builder, calls []plainCall) {
		b.WriteString("time,status,request_time\n")
		for _, c := range byEnd(calls) {
			fmt.Fprintf(b, "%s,%d,%d.%03d\n", time.UnixMilli(plainEpoch*1000+int64(c.start+c.latency)).UTC().Format("2006-01-02T15:04:05.000Z"), c.status(), c.latency/1000, c.latency%1000)
		}
	},
}

func written(f Format, calls []plainCall) string {
	var b strings.Builder
	writers[f](&b, calls)
	return b.String()
}

func (c plainCall) status() int {
	if c.failed {
		return 503
	}
	return 200
}

func byEnd(calls []plainCall) []plainCall {
	return slices.SortedStableFunc(slices.Values(calls), func(a, b plainCall) int {
		return cmp.Or(cmp.Compare(a.start+a.latency, b.start+b.latency), cmp.Compare(a.start, b.start))
	})
}

// plainStrict is the breaker strict by hand, millisecond by millisecond: the
// fifth failure in a row opens, 10 s later one call may pass, whose end closes
// or opens again; answers of an earlier state do not count. It returns the
// openings, the refused calls, and the time open until the last end.
func plainStrict(calls []plainCall) (openings []int, refused, open int) {
	starts, ends := make(map[int]int), make(map[int][]int)
	last := 0
	for i, c := range calls {
		starts[c.start] = i
		last = max(last, c.start+c.latency)
	}
	for _, c := range byEnd(calls) {
		ends[c.start+c.latency] = append(ends[c.start+c.latency], starts[c.start])
	}
	state, era, row, since := "closed", 0, 0, 0
	permits := make(map[int]int) // the era of a call in flight
	enter := func(next string, now int) {
		if state == "open" {
			open += now - since
		}
		if next == "open" {
			openings = append(openings, now)
		}
		state, row, since = next, 0, now
		era++
	}
	for now := 0; now <= last; now++ {
		for _, i := range ends[now] {
			if e, ok := permits[i]; !ok || e != era {
				continue
			}
			switch failed := calls[i].failed; {
			case state == "half-open" && failed:
				enter("open", now)
			case state == "half-open":
				enter("closed", now)
			case !failed:
				row = 0
			default:
				if row++; row == 5 {
					enter("open", now)
				}
			}
		}
		if i, ok := starts[now]; ok {
			if state == "open" && now-since >= 10_000 {
				enter("half-open", now)
				permits[i] = era
			} else if state == "closed" {
				permits[i] = era
			} else {
				refused++
			}
		}
	}
	if state == "open" {
		open += last - since
	}
	return openings, refused, open
}

// What is read and replayed of each format is what a plain computation finds
// in the calls that were written.
func TestFormatsAgainstAPlainComputation(t *testing.T) {
	for seed := range uint64(8) {
		calls := plainCalls(seed)
		openings, refused, open := plainStrict(calls)
		if len(openings) < 3 {
			t.Fatalf("openings %v, want some", openings)
		}
		failed := 0
		perSecond := make(map[int][2]int) // calls and failures by their starts
		for _, c := range calls {
			n := perSecond[c.start/1000]
			perSecond[c.start/1000] = [2]int{n[0] + 1, n[1] + asInt(c.failed)}
			failed += asInt(c.failed)
		}
		for format := range writers {
			tr := read(t, "x", written(format, calls), Options{Width: time.Second})
			if f := tr.Report.Files[0].Format; f != format {
				t.Fatalf("%s is read as %s", format, f)
			}
			if tr.Report.Calls != float64(len(calls)) || tr.Report.Failed != float64(failed) || !tr.Epoch.Equal(time.Unix(plainEpoch, 0)) {
				t.Errorf("%s: %v calls, %v failed since %v; want %d, %d", format, tr.Report.Calls, tr.Report.Failed, tr.Epoch, len(calls), failed)
			}
			for _, s := range tr.Segments {
				n := perSecond[int(s.Start/time.Second)]
				if s.RateRPS.Value != float64(n[0]) || math.Abs(s.ErrorRatio-float64(n[1])/float64(n[0])) > 1e-12 {
					t.Errorf("%s: segment %+v, want %d calls, %d failed", format, s, n[0], n[1])
				}
			}
			if len(tr.Segments) != len(perSecond) {
				t.Errorf("%s: %d segments, want %d", format, len(tr.Segments), len(perSecond))
			}
			p := play(t, tr, PlayOptions{}, strict).Plays[0]
			if p.Openings != len(openings) || p.Refused != refused || p.OpenTime != time.Duration(open)*time.Millisecond || p.Trips[0].At != time.Duration(openings[0])*time.Millisecond {
				t.Errorf("%s, seed %d: %d openings, the first at %v, %d refused, %v open; want %v ms, %d, %d ms",
					format, seed, p.Openings, p.Trips[0].At, p.Refused, p.OpenTime, openings, refused, open)
			}
		}
	}
}

// Of Prometheus, rates by status: 15 s before each point. With calls at a rate
// of 20/s that all fail, the fifth comes 5/20 s after the beginning on average.
func TestPrometheusAgainstAPlainComputation(t *testing.T) {
	var good, bad []string
	for k := 1; k <= 20; k++ {
		a, b := "20", "0"
		if k > 8 && k <= 12 {
			a, b = b, a
		}
		good = append(good, fmt.Sprintf(`[%d,"%s"]`, plainEpoch+15*k, a))
		bad = append(bad, fmt.Sprintf(`[%d,"%s"]`, plainEpoch+15*k, b))
	}
	tr := read(t, "x", `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"code":"200"},"values":[`+strings.Join(good, ",")+
		`]},{"metric":{"code":"503"},"values":[`+strings.Join(bad, ",")+`]}]}}`, Options{})
	if tr.Report.Calls != 20*300 || tr.Report.Failed != 20*60 || tr.End() != 300*time.Second {
		t.Fatalf("report %+v up to %v, want 6000 calls, 1200 failed, up to 5m", tr.Report, tr.End())
	}
	const n = 400
	sum := 0.0
	for _, p := range play(t, tr, PlayOptions{Replications: n}, strict).Plays {
		o := p.Trips[0]
		sum += (o.At - 120*time.Second).Seconds()
		if o.Stretch != 0 || p.Outside != 0 || !o.Closed.Known || o.Closed.Value < 180*time.Second || o.Closed.Value > 191*time.Second || o.Reopened != 5 {
			t.Errorf("replication %d: %+v, want closed by the first probe after 180 s", p.Replication, o)
		}
	}
	if mean, sd := sum/n, math.Sqrt(5./n)/20; math.Abs(mean-5./20) > 4*sd {
		t.Errorf("opened after %.4f s on average, want 0.25 within %.4f", mean, 4*sd)
	}
}

// A trace that is written gives as many arrivals in a segment as there were
// calls, the first half a gap in.
func TestArrivalsOfAWrittenTrace(t *testing.T) {
	calls := plainCalls(1)
	tr := read(t, "x", written(AccessLog, calls), Options{Width: time.Second})
	starts := arrivals(t, tr)
	if len(starts) != len(calls) {
		t.Fatalf("%d arrivals, want %d", len(starts), len(calls))
	}
	i := 0
	for _, s := range tr.Segments {
		if gap := 1 / s.RateRPS.Value; math.Abs(starts[i]-s.Start.Seconds()-gap/2) > 1e-9 {
			t.Errorf("segment from %v: first arrival at %v s, want half of %v s in", s.Start, starts[i], gap)
		}
		i += int(s.RateRPS.Value)
	}
}
