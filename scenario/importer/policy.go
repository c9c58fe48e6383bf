package importer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/stormglass/stormglass/scenario/document"
)

// A policy is one of the scenario, made line by line from settings. Its methods
// that read a setting also write it, with its source or the word default.
type policy struct {
	settings
	name   string
	lines  []line
	depth  int
	places map[string]document.Place // by the words of what was written
}

// A line is one of YAML, with a comment behind or before it.
type line struct {
	depth         int
	text, comment string
}

// policy begins one of a name that nobody has; its first line is its layer.
func (r *reader) policy(name, layer string, from settings) *policy {
	p := &policy{settings: from, name: r.unused("policy", name), depth: 2, places: make(map[string]document.Place)}
	p.open(layer)
	r.out.policies = append(r.out.policies, p)
	return p
}

// stack begins one to a node of that name, or of one like it that nobody has.
func (r *reader) stack(name string, from settings) *stack {
	s := &stack{name: r.unused("stack", name), from: from.path()}
	s.node, s.client = s.name, s.name+"-client"
	if r.caller != "" {
		s.client = r.caller + "-to-" + s.name
	}
	s.client = r.unused("stack", s.client)
	r.out.stacks = append(r.out.stacks, s)
	return s
}

// add puts a layer inside of the others; nil is none.
func (s *stack) add(p *policy) {
	switch {
	case p == nil:
	case s.pool != nil:
		s.pool.layers = append(s.pool.layers, p)
	default:
		s.layers = append(s.layers, p)
	}
}

// link returns the name of the link on which a stack has a layer of a kind, or
// nothing.
func (s *stack) link(layer string) string {
	is := func(p *policy) bool { return len(p.lines) > 0 && p.lines[0].text == layer+":" }
	callee := s.node
	if s.pool != nil {
		if slices.ContainsFunc(s.pool.layers, is) {
			return s.pool.name + "-" + s.node
		}
		callee = s.pool.name
	}
	if slices.ContainsFunc(s.layers, is) {
		return s.client + "-" + callee
	}
	return ""
}

// unused returns a name, or one like it, that no other thing of the kind has.
func (r *reader) unused(kind, name string) string {
	name = plain(name)
	free := name
	for r.taken[kind+" "+free] > 0 {
		r.taken[kind+" "+name]++
		free = fmt.Sprintf("%s-%d", name, r.taken[kind+" "+name])
	}
	r.taken[kind+" "+free]++
	return free
}

// plain makes a name of letters, digits and dashes.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' {
			return r
		}
		return '-'
	}, name)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	if name = strings.Trim(name, "-_"); name == "" {
		return "service"
	}
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-_")
	}
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n": // no texts in YAML
		return "s-" + name
	}
	if unicode.IsDigit(rune(name[0])) {
		return "s" + name
	}
	return name
}

func (p *policy) add(text, comment string) { p.lines = append(p.lines, line{p.depth, text, comment}) }

// open begins a mapping.
func (p *policy) open(key string) {
	p.add(key+":", "")
	p.depth++
}

// close ends n mappings.
func (p *policy) close(n int) { p.depth -= n }

// note writes a comment of its own.
func (p *policy) note(format string, args ...any) { p.add("", fmt.Sprintf(format, args...)) }

// shared writes that the policy is one with those of other stacks; an empty name
// that it is not.
func (p *policy) shared(name, what string) {
	if name != "" {
		p.add("share: "+plain(name)+"-"+what, "one for all that name it")
	}
}

// set writes a key that is not read.
func (p *policy) set(key, value, comment string) { p.add(key+": "+value, comment) }

// source says where a value is from.
func source(e entry) string { return fmt.Sprintf("%s (line %d)", e.name, e.place.Line) }

// keep remembers where what was written is from.
func (p *policy) keep(key string, e entry) { p.places[strings.ReplaceAll(key, "_", " ")] = e.place }

// must notes the error of a policy at the setting that it names.
func (p *policy) must(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	for _, prefix := range []string{"policies: ", "presets: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	best, length := p.place(), 0
	for words, place := range p.places {
		if len(words) > length && strings.Contains(relaxedWords(text), relaxedWords(words)) {
			best, length = place, len(words)
		}
	}
	p.r.add(best, "%s", text)
}

func relaxedWords(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "") }

// whole reads a whole number of at least least.
func (s settings) whole(least int64, names ...string) (int64, entry, bool) {
	text, e, ok := s.text(names...)
	if !ok {
		return 0, e, false
	}
	n, err := parseWhole(text)
	if err != nil || n < least {
		s.r.add(e.place, "%q, want a whole number of at least %d", text, least)
		return least, e, true
	}
	return n, e, true
}

func parseWhole(text string) (int64, error) {
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return strconv.ParseInt(hex, 16, 64)
	}
	if n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil {
		return n, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	return int64(x), nil
}

// most is the largest number that the policies take.
const most = 1 << 24

// count reads a whole number up to what the policies take, and writes it; def
// is the default, unit is what is counted.
func (p *policy) count(key string, least, def int, unit string, names ...string) int {
	n, e, ok := p.whole(int64(least), names...)
	if !ok {
		p.set(key, strconv.Itoa(def), "default"+meaning(int64(def), unit))
		return def
	}
	if n > most {
		p.r.add(e.place, "%d, want at most %d", n, most)
		n = int64(least)
	}
	p.keep(key, e)
	p.set(key, strconv.FormatInt(n, 10), source(e)+meaning(n, unit))
	return int(n)
}

// meaning is what a number counts, or its percentage.
func meaning(n int64, unit string) string {
	if unit == "%" {
		return fmt.Sprintf(": %d %%", n)
	}
	return ": " + unit
}

// span reads a duration.
func (s settings) span(form durationForm, names ...string) (time.Duration, entry, bool) {
	text, e, ok := s.text(names...)
	if !ok {
		return 0, e, false
	}
	d, err := form(text)
	if err != nil {
		s.r.add(e.place, "%v", err)
	}
	return d, e, true
}

// duration reads a duration and writes it.
func (p *policy) duration(key string, form durationForm, def time.Duration, names ...string) time.Duration {
	d, e, ok := p.span(form, names...)
	if !ok {
		p.set(key, def.String(), "default: "+inMilliseconds(def))
		return def
	}
	p.keep(key, e)
	p.set(key, d.String(), source(e)+": "+inMilliseconds(d))
	return d
}

// timeout makes a layer of a duration that is given, with what it bounds, or of
// a default above 0s. Without either there is none, and it returns nil.
func (r *reader) timeout(name string, from settings, form durationForm, def time.Duration, bounds string, names ...string) *policy {
	d, e, ok := from.span(form, names...)
	comment := "default"
	switch {
	case ok && d == 0:
		r.lose(e.place.Line, "no timeout: %s: %s, which is none", e.name, e.value.Value)
		return nil
	case ok:
		comment = source(e)
	case def == 0:
		return nil
	default:
		d = def
	}
	p := &policy{settings: from, name: r.unused("policy", name), depth: 2, places: make(map[string]document.Place)}
	p.set("timeout", d.String(), comment+": "+inMilliseconds(d)+" "+bounds)
	r.out.policies = append(r.out.policies, p)
	return p
}

// real reads a number from low to high.
func (s settings) real(low, high float64, names ...string) (float64, entry, bool) {
	text, e, ok := s.text(names...)
	if !ok {
		return 0, e, false
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(text, "f"), 64)
	if err != nil || !(x >= low && x <= high) {
		s.r.add(e.place, "%q, want a number from %v to %v", text, low, high)
		return low, e, true
	}
	return x, e, true
}

// percent reads a number of percent and writes it as one.
func (p *policy) percent(key string, def float64, names ...string) float64 {
	x, e, ok := p.real(0, 100, names...)
	if !ok {
		p.set(key, number(def), "default: "+number(def)+" %")
		return def
	}
	p.keep(key, e)
	text, comment := number(x), source(e)+": "+number(x)+" %"
	if x > 0 && x < 1 { // a scenario wants its sign
		text += "%"
		comment += " (percent, not a fraction)"
	}
	p.set(key, text, comment)
	return x
}

// fraction reads a number from 0 to high and writes it.
func (p *policy) fraction(key string, def, high float64, names ...string) float64 {
	x, e, ok := p.real(0, high, names...)
	if !ok {
		p.set(key, number(def), "default: "+inPercent(def))
		return def
	}
	p.keep(key, e)
	text := number(x)
	if x > 1 { // a scenario wants its sign
		text = number(math.Round(x*1e8)/1e6) + "%"
	}
	p.set(key, text, source(e)+": "+inPercent(x))
	return x
}

// endless writes that the number of attempts has no bound. The model wants an
// age at which retries end: without one it is far beyond the end of a run.
func (p *policy) endless(deadline time.Duration, comment string) {
	p.set("attempts", "unlimited", comment)
	if deadline > 0 {
		p.set("deadline", deadline.String(), "the timeout")
		return
	}
	p.set("deadline", "24h", madeUp+"never in a run")
}

// attempts writes how many attempts there are in all.
func (p *policy) attempts(n int64, comment string) {
	if n > most {
		p.endless(0, comment+": no bound")
		return
	}
	p.set("attempts", strconv.FormatInt(n, 10), fmt.Sprintf("%s: %d attempts in all, %d retries", comment, n, n-1))
}
