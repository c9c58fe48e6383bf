package policies

import (
	"fmt"
	"slices"
	"strings"
)

// An ErrorCode is an error that says how an attempt failed: an HTTP-like
// status from 100 to 599, or one of the constants, where there was no answer.
// It can be an outcome's error itself or be wrapped in it.
type ErrorCode uint16

// The codes of attempts without an answer.
const (
	ErrOther          ErrorCode = iota // anything else
	ErrTimeout                         // sent, but not answered in time
	ErrConnect                         // the connection was refused: nothing was sent
	ErrConnectTimeout                  // no connection in time: nothing was sent
	ErrReset                           // the connection broke before the answer
	ErrBreakerOpen                     // an open breaker refused: nothing was sent
	ErrLimit                           // a cap on calls in flight refused: nothing was sent
	ErrLeft                            // the caller gave the attempt up

	endOfCodes ErrorCode = 600
)

// Error returns the name of the code, such as "timeout" or "status 503".
func (c ErrorCode) Error() string {
	switch c {
	case ErrOther:
		return "other error"
	case ErrTimeout:
		return "timeout"
	case ErrConnect:
		return "connect failure"
	case ErrConnectTimeout:
		return "connect timeout"
	case ErrReset:
		return "reset"
	case ErrBreakerOpen:
		return "breaker open"
	case ErrLimit:
		return "limit"
	case ErrLeft:
		return "left"
	}
	return fmt.Sprintf("status %d", uint16(c))
}

// CodeOf returns the code in err or in the errors it wraps. Without one it is
// ErrTimeout for an error whose method Timeout() bool says so, as those of
// packages net and context, and ErrOther for the rest and for nil.
func CodeOf(err error) ErrorCode {
	fallback := ErrOther
	for err != nil {
		if c, ok := err.(ErrorCode); ok {
			return c
		}
		if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
			fallback = ErrTimeout
		}
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range wrapper.Unwrap() {
				if c := CodeOf(inner); c != ErrOther {
					return c
				}
			}
			return fallback
		default:
			return fallback
		}
	}
	return fallback
}

// An errorClass is a range of codes with a name. Both ends are in it.
type errorClass struct {
	name        string
	first, last ErrorCode
}

var errorClasses = []errorClass{
	{"any", 0, endOfCodes - 1},
	{"timeout", ErrTimeout, ErrTimeout},
	{"connect-failure", ErrConnect, ErrConnectTimeout},
	{"connect-timeout", ErrConnectTimeout, ErrConnectTimeout},
	{"reset", ErrReset, ErrReset},
	{"breaker-open", ErrBreakerOpen, ErrBreakerOpen},
	{"limit", ErrLimit, ErrLimit},
	{"left", ErrLeft, ErrLeft},
	{"other", ErrOther, ErrOther},
	{"4xx", 400, 499},
	{"5xx", 500, 599},
	{"gateway-error", 502, 504},
}

// An ErrorList says by name which errors are retried: those in RetryOn that
// are not in NoRetryOn. An empty RetryOn means any error.
//
// The names are the codes from "100" to "599" and
//
//	any              every error
//	timeout          ErrTimeout
//	connect-failure  ErrConnect and ErrConnectTimeout
//	connect-timeout  ErrConnectTimeout
//	reset            ErrReset
//	breaker-open     ErrBreakerOpen
//	limit            ErrLimit
//	left             ErrLeft
//	other            errors without a code
//	4xx, 5xx         codes 400 to 499, 500 to 599
//	gateway-error    codes 502 to 504
//
// each also with _ for -. A class holds nothing but what it says: an attempt
// without an answer is not a 5xx.
type ErrorList struct {
	RetryOn   []string
	NoRetryOn []string
}

// Validate reports the first name that is not known.
func (l ErrorList) Validate() error {
	_, err := l.compile()
	return err
}

// Func returns a function that reports whether an outcome is an error to be
// retried, or the error of Validate.
func (l ErrorList) Func() (func(Outcome) bool, error) {
	set, err := l.compile()
	if err != nil {
		return nil, err
	}
	return set.matches, nil
}

// An errorSet is a set of codes, one bit each.
type errorSet [(endOfCodes + 63) / 64]uint64

func (l ErrorList) compile() (*errorSet, error) {
	on := l.RetryOn
	if len(on) == 0 {
		on = []string{"any"}
	}
	set := new(errorSet)
	for _, name := range on {
		class, err := findClass("retry on", name)
		if err != nil {
			return nil, err
		}
		for c := class.first; c <= class.last; c++ {
			set[c/64] |= 1 << (c % 64)
		}
	}
	for _, name := range l.NoRetryOn {
		class, err := findClass("no retry on", name)
		if err != nil {
			return nil, err
		}
		for c := class.first; c <= class.last; c++ {
			set[c/64] &^= 1 << (c % 64)
		}
	}
	return set, nil
}

func findClass(field, name string) (errorClass, error) {
	plain := strings.ReplaceAll(name, "_", "-")
	if i := slices.IndexFunc(errorClasses, func(c errorClass) bool { return c.name == plain }); i >= 0 {
		return errorClasses[i], nil
	}
	if len(name) == 3 && name >= "100" && name <= "599" && name[1] >= '0' && name[1] <= '9' && name[2] >= '0' && name[2] <= '9' {
		code := ErrorCode(name[0]-'0')*100 + ErrorCode(name[1]-'0')*10 + ErrorCode(name[2]-'0')
		return errorClass{name, code, code}, nil
	}
	known := make([]string, len(errorClasses))
	for i, c := range errorClasses {
		known[i] = c.name
	}
	return errorClass{}, fmt.Errorf("policies: retry: %s %q, want a code from 100 to 599 or one of %s",
		field, name, strings.Join(known, ", "))
}

func (s *errorSet) matches(o Outcome) bool {
	if o.Err == nil {
		return false
	}
	c := CodeOf(o.Err)
	if c >= endOfCodes {
		c = ErrOther
	}
	return s[c/64]>>(c%64)&1 != 0
}
