package scenario

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/scenario/document"
)

// A Claim is a statement that must hold:
//
//	METRIC{LABEL=NAME} OP VALUE [after T] [until T] [before opening of LINK]
//	                            [per T] [in P of replications]
//
// OP is ==, !=, <, <=, > or >=, or "within A..B" takes the place of OP and VALUE.
// The label may be left out if there is only one client, node or link.
type Claim struct {
	document.Place
	Text string `key:"claim,required" doc:"The statement, such as: success_ratio{client=web} >= 0.99 after 60s in 95% of replications."`
	Why  string `key:"why" doc:"Why it must hold."`
}

// ParseShort reads a claim written as its statement.
func (c *Claim) ParseShort(text string) error {
	c.Text = text
	return nil
}

// A statement is a claim, read.
type statement struct {
	text, why string
	at        document.Place
	lacks     string // what its subject is without, see world.lacks
	metric    *metric
	quantile  float64 // of metrics that have one
	entity    int     // place of the client, node or link
	name      string  // its name

	op        string  // ==, !=, <, <=, >, >= or within
	low, high float64 // low is the value of all but within

	after, until time.Duration // until 0 means the horizon
	opening      int           // link before whose first opening it is counted; -1 for none
	per          time.Duration // width of the intervals of metrics that have them
	share        float64       // of the replications in which it must hold; 0 means on average
}

var claimForm = regexp.MustCompile(`^\s*([a-z][a-z0-9_.]*)\s*(?:\{([^}]*)\})?\s*(==|!=|<=|>=|<|>|within\s)\s*(.*)$`)

// claimWords begin what may follow the value.
var claimWords = regexp.MustCompile(`\s+(after|until|before opening of|per|in)\s+`)

const claimWant = "want METRIC{LABEL=NAME} OP VALUE, such as success_ratio{client=web} >= 99% after 60s"

// parse reads a claim about a case.
func (c *Claim) parse(w *world) (s statement, err error) {
	s = statement{text: strings.Join(strings.Fields(c.Text), " "), why: c.Why, at: c.At("claim"), opening: -1}
	m := claimForm.FindStringSubmatch(s.text)
	if m == nil {
		return s, fmt.Errorf("%q is no claim, %s", s.text, claimWant)
	}
	if s.metric, s.quantile, err = findMetric(m[1]); err != nil {
		return s, err
	}
	if err := s.label(m[2], w); err != nil {
		return s, err
	}
	s.op = strings.TrimSpace(m[3])
	rest := " " + m[4] + " "
	value := rest
	if at := claimWords.FindStringIndex(rest); at != nil {
		value = rest[:at[0]]
		rest = rest[at[0]:]
	} else {
		rest = ""
	}
	if err := s.value(strings.TrimSpace(value)); err != nil {
		return s, err
	}
	return s, s.modifiers(rest, w)
}

// label finds the entity that a claim is about.
func (s *statement) label(text string, w *world) error {
	known := w.entities(s.metric.of)
	name := ""
	for _, part := range strings.Split(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			return fmt.Errorf("label %q, want NAME=VALUE such as %s=%s", part, s.metric.of, first(known))
		}
		if key != s.metric.of && !(s.metric.of == "link" && (key == "breaker" || key == "budget")) {
			return fmt.Errorf("label %q of %s, want %s", key, s.metric.name, s.metric.of)
		}
		if name != "" {
			return fmt.Errorf("labels %q, want one", text)
		}
		name = value
	}
	if name == "" {
		known = w.having(s.metric, known)
		if len(known) != 1 {
			return fmt.Errorf("%s without a label, want {%s=NAME}; known: %s", s.metric.name, s.metric.of, strings.Join(known, ", "))
		}
		name = known[0]
	}
	s.name = name
	for i, k := range known {
		if k == name {
			s.entity = i
			return nil
		}
	}
	if i, ok := w.shares[name]; ok && s.metric.of == "link" {
		s.entity = i
		return nil
	}
	return fmt.Errorf("there is no %s %q; %s", s.metric.of, name, names.Known(name, known))
}

func first(list []string) string {
	if len(list) == 0 {
		return "NAME"
	}
	return list[0]
}

// value reads what the metric is compared with.
func (s *statement) value(text string) (err error) {
	if s.op != "within" {
		s.low, err = s.metric.read(text)
		return err
	}
	low, high, ok := strings.Cut(text, "..")
	if !ok {
		return fmt.Errorf("%q, want a range such as 1.25..1.31", text)
	}
	if s.low, err = s.metric.read(strings.TrimSpace(low)); err != nil {
		return err
	}
	if s.high, err = s.metric.read(strings.TrimSpace(high)); err != nil {
		return err
	}
	if s.low > s.high {
		return fmt.Errorf("%q, want the lower end first", text)
	}
	return nil
}

// modifiers reads what follows the value.
func (s *statement) modifiers(rest string, w *world) error {
	seen := make(map[string]bool)
	for strings.TrimSpace(rest) != "" {
		m := claimWords.FindStringSubmatchIndex(rest)
		word, body := rest[m[2]:m[3]], rest[m[1]:]
		rest = ""
		if next := claimWords.FindStringIndex(" " + body); next != nil {
			body, rest = (" " + body)[:next[0]], (" " + body)[next[0]:]
		}
		if seen[word] {
			return fmt.Errorf("%s is given twice, want it once", word)
		}
		seen[word] = true
		if err := s.modifier(word, strings.TrimSpace(body), w); err != nil {
			return err
		}
	}
	switch {
	case seen["until"] && s.until <= s.after:
		return fmt.Errorf("until %v, want more than after %v", s.until, s.after)
	case w.horizon > 0 && s.after >= w.horizon:
		return fmt.Errorf("after %v, want less than the horizon %v", s.after, w.horizon)
	case w.horizon > 0 && s.until > w.horizon:
		return fmt.Errorf("until %v, want at most the horizon %v", s.until, w.horizon)
	case !s.metric.spans && (s.after > 0 || s.until > 0 || s.opening >= 0):
		return fmt.Errorf("%s is of the whole run, want no after, until or before", s.metric.name)
	case s.metric.series && s.opening >= 0:
		return fmt.Errorf("%s is of intervals, want no before", s.metric.name)
	case s.metric.name == latencies && s.opening >= 0:
		return fmt.Errorf("%s is kept for the instants of after and until only, want no before", s.metric.name)
	case !s.metric.series && s.per > 0:
		return fmt.Errorf("%s has no intervals, want no per", s.metric.name)
	case !s.metric.series:
		return nil
	case s.per == 0:
		s.per = defaultPer
	}
	for _, end := range []struct {
		word string
		at   time.Duration
	}{{"after", s.after}, {"until", s.until}} {
		if end.at%s.per != 0 {
			return fmt.Errorf("%s %v, want a multiple of per %v: %s looks at whole intervals", end.word, end.at, s.per, s.metric.name)
		}
	}
	return nil
}

// defaultPer is the width of intervals where a claim says none.
const defaultPer = time.Second

func (s *statement) modifier(word, body string, w *world) (err error) {
	switch word {
	case "after":
		s.after, err = ParseDuration(body)
	case "until":
		s.until, err = ParseDuration(body)
	case "per":
		if s.per, err = ParseDuration(body); err == nil && s.per == 0 {
			err = fmt.Errorf("per 0s, want more")
		}
	case "before opening of":
		known := w.entities("link")
		for i, k := range known {
			if k == body {
				s.opening = i
				return nil
			}
		}
		if i, ok := w.shares[body]; ok {
			s.opening = i
			return nil
		}
		err = fmt.Errorf("there is no link %q; %s", body, names.Known(body, known))
	case "in":
		share, ok := strings.CutSuffix(body, "of replications")
		if !ok {
			return fmt.Errorf("in %q, want such as in 95%% of replications", body)
		}
		if strings.TrimSpace(share) == "all" {
			s.share = 1
			return nil
		}
		s.share, err = parsePercent(share)
		if err == nil && (s.share <= 0 || s.share > 1) {
			err = fmt.Errorf("in %s of replications, want above 0%% to 100%%", strings.TrimSpace(share))
		}
	}
	return err
}

// holds reports whether a value satisfies the claim; where there was nothing to
// measure, none does.
func (s *statement) holds(v float64) bool {
	switch s.op {
	case "==":
		return v == s.low
	case "!=":
		return v != s.low && !math.IsNaN(v)
	case "<":
		return v < s.low
	case "<=":
		return v <= s.low
	case ">":
		return v > s.low
	case ">=":
		return v >= s.low
	}
	return v >= s.low && v <= s.high
}
