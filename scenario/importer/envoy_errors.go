package importer

import (
	"slices"
	"strconv"
)

// envoyConditions are the errors that the words of retry_on mean. A connection
// that fails or breaks and an attempt that times out become a 5xx in Envoy.
var envoyConditions = map[string][]string{
	"5xx":                {"5xx", "connect-failure", "reset", "timeout"},
	"gateway-error":      {"gateway-error", "connect-failure", "reset", "timeout"},
	"reset":              {"connect-failure", "reset", "timeout"},
	"connect-failure":    {"connect-failure"},
	"retriable-4xx":      {"409"},
	"unavailable":        {"503"},
	"internal":           {"500"},
	"resource-exhausted": {"429"},
	"deadline-exceeded":  {"504"},
	"cancelled":          {"499"},
}

// grpcConditions are those of the conditions that are statuses of gRPC.
var grpcConditions = []string{"unavailable", "internal", "resource-exhausted", "deadline-exceeded", "cancelled"}

// envoyErrors writes what is retried.
func (p *policy) envoyErrors(s settings, key string, otherwise ...string) {
	var on []string
	more := func(list ...string) {
		for _, x := range list {
			if !slices.Contains(on, x) {
				on = append(on, x)
			}
		}
	}
	conditions := s.texts(key)
	comment, guessed := key, false
	if len(conditions) > 0 {
		comment = source(conditions[0])
	}
	for _, e := range conditions {
		word := e.value.Value
		list, known := envoyConditions[word]
		switch code, err := strconv.Atoi(word); {
		case known:
			more(list...)
			guessed = guessed || slices.Contains(grpcConditions, word)
		case word == "retriable-status-codes":
			more(p.statuses(s)...)
		case err == nil && code >= 100 && code <= 599:
			more(word)
		default:
			p.r.lose(e.place.Line, "not in the model: %s: %s", e.name, word)
		}
	}
	switch {
	case len(conditions) == 0 && len(otherwise) > 0:
		on, comment, guessed = otherwise, "default", true
	case len(on) == 0:
		p.set("not_on", "[any]", comment+": nothing that the model has is retried")
		return
	}
	if guessed {
		comment += "; GUESSED: statuses of HTTP for those of gRPC"
	}
	p.set("on", inList(on), comment)
}

// statuses reads retriable_status_codes.
func (p *policy) statuses(s settings) (list []string) {
	for _, e := range s.texts("retriable_status_codes") {
		n, err := strconv.Atoi(e.value.Value)
		if err != nil || n < 100 || n > 599 {
			p.r.add(e.place, "%q, want a status from 100 to 599", e.value.Value)
			continue
		}
		list = append(list, strconv.Itoa(n))
	}
	return list
}
