package scenario

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/scenario/document"
)

// words are what the messages of models and policies call some keys of a
// struct, besides the names of the keys themselves: one or more, with commas.
type words map[string]string

var (
	wordsOfFile     = words{"warmup": "warm-up"}
	wordsOfNode     = words{"service_per_in_flight": "service per call in flight", "repeat_script": "script repeat"}
	wordsOfFault    = words{"from": "start", "to": "end", "for": "end", "error": "ratio", "slow": "factor", "capacity": "factor", "limit": "rate"}
	wordsOfSegment  = words{"from": "start", "to": "end", "error": "error ratio", "capacity": "capacity factor", "latency": "latency mean"}
	wordsOfLaw      = words{"low": "bounds", "high": "bounds", "quantiles": "points,point", "samples": "sample"}
	wordsOfArrivals = words{"fixed": "rate", "poisson": "rate"}
	wordsOfRamp     = words{"from": "rate", "to": "final rate", "over": "ramp length"}
	wordsOfLoop     = words{"failure_pause": "pause after a failure"}
	wordsOfRetry    = words{"on": "retry on", "not_on": "no retry on"}
	wordsOfBudget   = words{"cap": "retries", "ratio": "share", "min_rate": "min rps"}
	wordsOfBreaker  = words{"minimum": "minimum calls", "consecutive": "minimum calls,calls", "slow_in_flight": "slow calls in flight"}
	wordsOfWindow   = words{"max_calls": "at most"}
)

// nearest is the place of the key that a message about a struct is about: the
// one by whose words its subject begins, or the one that it mentions if there
// is none, the longest if there are several; the struct itself otherwise.
func nearest(at document.Place, also words, text string) document.Place {
	text = unquoted(text)
	subject, _, _ := strings.Cut(text, ", ")
	subject = flat(subject[strings.LastIndex(subject, ": ")+1:])
	text = flat(text)
	for _, holds := range []func(words string) bool{
		func(words string) bool { return strings.HasPrefix(subject, words) },
		func(words string) bool { return strings.Contains(text, words) },
	} {
		best, longest := at, 0
		for _, key := range sortedKeys(at) {
			for _, name := range append(strings.Split(also[key], ","), key) {
				if name = flat(name); len(name) > max(longest, len(" ")) && holds(name) {
					best, longest = at.Keys[key], len(name)
				}
			}
		}
		if longest > 0 {
			return best
		}
	}
	return at
}

// unquoted returns a text without what is in quotes.
func unquoted(text string) string {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(text, `"`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = text[len(before):]
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			quoted = `"`
		}
		text = text[len(quoted):]
	}
}

// flat returns the words of a text in lower case, with a space around each.
func flat(text string) string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(append(list, ""), " ")
}

// A part of a file is what a message of the model is about, with the rest of
// the message: the model names a part after those that it is in.
type part struct {
	document.Place
	words words
	rest  string
}

// part finds the part that a message names.
func (b *builder) part(text string) part {
	f := b.file
	if name, rest, ok := named(text, "node "); ok {
		if i, known := b.nodes[name]; known {
			return b.partOfNode(&f.Nodes.Values[i], rest)
		}
	}
	if name, rest, ok := named(text, "client "); ok {
		if i, known := b.clients[name]; known {
			c := &f.Clients.Values[i]
			if c.Loop != nil && strings.HasPrefix(rest, "closed loop: ") {
				return part{c.Loop.Place, wordsOfLoop, rest}
			}
			return b.partOfSteps(c.Calls, rest, part{c.Place, nil, rest})
		}
	}
	if rest, ok := strings.CutPrefix(text, "topology: "); ok {
		return part{b.cycle(rest), nil, rest}
	}
	return part{f.Place, wordsOfFile, strings.TrimPrefix(text, "config: ")}
}

func (b *builder) partOfNode(n *Node, text string) part {
	if rest, ok := strings.CutPrefix(text, "shed "); ok && n.Shed != nil {
		return part{n.Shed.Place, nil, rest}
	}
	if rest, ok := strings.CutPrefix(text, "queue "); ok && n.Queue != nil {
		return part{n.Queue.Place, nil, rest}
	}
	if i, rest, ok := numbered(text, "fault ", len(n.Faults)); ok {
		_, rest, _ = strings.Cut(rest, ": ") // after the kind
		return part{n.Faults[i].Place, wordsOfFault, rest}
	}
	if i, rest, ok := numbered(text, "script ", len(n.Script)); ok {
		return part{n.Script[i].Place, nil, strings.TrimPrefix(rest, ": ")}
	}
	if t := n.Trace; t != nil && strings.HasPrefix(text, "trace segment ") {
		if i, rest, ok := numbered(text, "trace segment ", len(t.Segments)); ok {
			return part{t.Segments[i].Place, wordsOfSegment, strings.TrimPrefix(rest, ": ")}
		}
		return part{t.At("file"), nil, text}
	}
	return b.partOfSteps(n.Calls, text, part{n.Place, wordsOfNode, text})
}

// partOfSteps finds a step, a call or a layer, or else takes the whole.
func (b *builder) partOfSteps(steps []Step, text string, whole part) part {
	i, text, ok := numbered(text, "step ", len(steps))
	if !ok {
		return whole
	}
	s := &steps[i]
	calls := s.Parallel
	if len(calls) == 0 {
		calls = []Call{s.Call}
	}
	k, rest, ok := numbered(text, ", call ", len(calls))
	if !ok {
		return part{s.Place, nil, strings.TrimPrefix(text, ": ")}
	}
	c := &calls[k]
	_, rest, _ = named(rest, " to ")
	if i, text, ok := numbered(rest, "stack layer ", len(c.Stack)); ok {
		return b.partOfLayer(&c.Stack[i], strings.TrimPrefix(text, ": "))
	}
	if i, text, ok := numbered(rest, "sidecar layer ", len(c.Sidecar)); ok {
		return b.partOfLayer(&c.Sidecar[i], strings.TrimPrefix(text, ": "))
	}
	return part{c.Place, nil, rest}
}

func (b *builder) partOfLayer(l *Layer, text string) part {
	if i, ok := b.policies[l.Policy]; ok {
		l = &b.file.Policies.Values[i]
	}
	switch kind, _, _ := strings.Cut(text, ": "); {
	case (kind == "retry" || kind == "budget") && l.Retry != nil:
		return part{l.Retry.Place, wordsOfRetry, text}
	case kind == "breaker" && l.Breaker != nil:
		return part{l.Breaker.Place, wordsOfBreaker, text}
	case kind == "limit" && l.Limit != nil:
		return part{l.Limit.Place, nil, text}
	}
	return part{l.Place, nil, text}
}

// cycle is the place of the first call of a cycle "cycle a → b → a, want none".
func (b *builder) cycle(text string) document.Place {
	list := strings.Split(strings.TrimPrefix(text, "cycle "), " → ")
	if i, ok := b.nodes[list[0]]; ok && len(list) > 1 {
		to, _, _ := strings.Cut(list[1], ", want")
		for k := range b.file.Nodes.Values[i].Calls {
			s := &b.file.Nodes.Values[i].Calls[k]
			for _, c := range append([]Call{s.Call}, s.Parallel...) {
				if c.To == to {
					return c.At("to")
				}
			}
		}
	}
	return b.file.At("nodes")
}

// named splits a text such as `node "b": rest` after the given beginning.
func named(text, beginning string) (name, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, beginning)
	quoted, err := strconv.QuotedPrefix(after)
	if !ok || err != nil {
		return "", text, false
	}
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", text, false
	}
	rest, ok = strings.CutPrefix(after[len(quoted):], ": ")
	return name, rest, ok
}

// numbered splits a text such as "step 2: rest" into the index of what is
// numbered from 1 to n, here 1, and ": rest".
func numbered(text, beginning string, n int) (index int, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, beginning)
	rest = strings.TrimLeft(after, "0123456789")
	number, err := strconv.Atoi(after[:len(after)-len(rest)])
	if !ok || err != nil || number < 1 || number > n {
		return 0, text, false
	}
	return number - 1, rest, true
}

// check lets the model look at the whole.
func (b *builder) check(c model.Config) {
	err := c.Validate()
	if err == nil {
		return
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, e := range list {
		p := b.part(strings.TrimPrefix(e.Error(), "model: "))
		b.add(nearest(p.Place, p.words, p.rest), "%s", p.rest)
	}
}
