package scenario

import (
	"bytes"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
)

// judged has a claim of each status, and names that XML has to escape.
const judged = `
name: "<a & \"b\">"
horizon: 10s
replications: 12
seed: 2
nodes:
  b: {service: {law: exponential, mean: 1ms}, faults: [{error: 10%}]}
clients:
  web: {arrivals: poisson 100/s, calls: [b]}
claims:
  - success_ratio > 85%
  - {claim: success_ratio > 95%, why: 9 of 10 & no more}
  - success_ratio > 90% in 50% of replications
  - {claim: requests > 0, why: there is load}
variants:
  "]]>": {set: {replications: 1}, claims: [latency_p99 <= 1s, recovery_time < 1h]}
`

func TestWriteText(t *testing.T) {
	var b bytes.Buffer
	reports := reportsOf(t, judged, 2)
	if err := WriteText(&b, reports); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, r := range reports {
		if !strings.Contains(text, r.Case.Title()+": "+replications(r.Case.Replications)+", seed 2\n") {
			t.Errorf("no caption of %q", r.Case.Title())
		}
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			found := 0
			for _, line := range strings.Split(text, "\n") {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), v.Claim+"  "); ok {
					rest, ok = strings.CutSuffix(rest, string(v.Status))
					if found++; !ok || strings.TrimSpace(rest) != v.Measured() {
						t.Errorf("%q, want %s and %s", line, v.Measured(), v.Status)
					}
				}
			}
			if found != 1 {
				t.Errorf("%d lines of %q", found, v.Claim)
			}
		}
	}
	if !strings.Contains(text, "success_ratio > 95%: 9 of 10 & no more") || strings.Contains(text, "there is load") {
		t.Errorf("want the reason of what fails, and of nothing else:\n%s", text)
	}
	if t.Log("\n" + text); t.Failed() {
		return
	}
	for n := range b.Len() {
		if err := WriteText(&shortWriter{n}, reports); !errors.Is(err, errShort) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

var errShort = errors.New("no room")

// A shortWriter takes only so many bytes.
type shortWriter struct{ left int }

func (s *shortWriter) Write(p []byte) (int, error) {
	if len(p) > s.left {
		n := s.left
		s.left = 0
		return n, errShort
	}
	s.left -= len(p)
	return len(p), nil
}

// What is read back is what was judged.
func TestWriteJUnit(t *testing.T) {
	var b bytes.Buffer
	reports := reportsOf(t, judged, 2)
	if err := WriteJUnit(&b, reports, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "<?xml ") || !strings.HasSuffix(b.String(), "</testsuites>\n") {
		t.Errorf("begin or end of\n%s", b.String())
	}
	var all junitSuites
	if err := xml.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	fails, undecided := Tally(reports, Fails), Tally(reports, Undecided)
	if fails != 2 || undecided != 1 || all.Failures != fails || all.Skipped != undecided || all.Tests != 6 || all.Tests != fails+undecided+Tally(reports, Holds) {
		t.Errorf("%d tests, %d failures, %d skipped; %d fail, %d are undecided", all.Tests, all.Failures, all.Skipped, fails, undecided)
	}
	if len(all.Suites) != len(reports) {
		t.Fatalf("%d suites of %d cases", len(all.Suites), len(reports))
	}
	for i, s := range all.Suites {
		r, failures, skipped := reports[i], 0, 0
		title := r.Case.Title()
		if s.Name != title || s.File != "test.yaml" || s.Tests != len(r.Verdicts) || len(s.Cases) != s.Tests {
			t.Errorf("suite %q of %s with %d and %d tests, want %q with %d", s.Name, s.File, s.Tests, len(s.Cases), title, len(r.Verdicts))
			continue
		}
		for k, c := range s.Cases {
			v := &r.Verdicts[k]
			if c.Name != v.Claim || c.Class != title || !strings.Contains(c.Output, replications(len(v.Values))+": "+v.Measured()) {
				t.Errorf("test %+v, want %s of %s with %s", c, v.Claim, title, v.Measured())
			}
			if (c.Failure != nil) != (v.Status == Fails) || (c.Skipped != nil) != (v.Status == Undecided) {
				t.Errorf("%s: failure %v and skipped %v, want %s", v.Claim, c.Failure, c.Skipped, v.Status)
			}
			if c.Failure != nil {
				if failures++; !strings.Contains(c.Failure.Message, v.Measured()) || c.Failure.Text != v.Why {
					t.Errorf("%s: failure %+v", v.Claim, *c.Failure)
				}
			}
			if c.Skipped != nil {
				if skipped++; !strings.Contains(c.Skipped.Message, "undecided") {
					t.Errorf("%s: skipped %+v", v.Claim, *c.Skipped)
				}
			}
		}
		if s.Failures != failures || s.Skipped != skipped {
			t.Errorf("%s: %d failures and %d skipped, want %d and %d", s.Name, s.Failures, s.Skipped, failures, skipped)
		}
	}
}
