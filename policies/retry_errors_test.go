package policies

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestErrorCodeText(t *testing.T) {
	for code, want := range map[ErrorCode]string{
		ErrOther: "other error", ErrTimeout: "timeout", ErrConnect: "connect failure",
		ErrConnectTimeout: "connect timeout", ErrReset: "reset", ErrBreakerOpen: "breaker open", ErrLimit: "limit", ErrLeft: "left",
		429: "status 429", 503: "status 503",
	} {
		if got := code.Error(); got != want {
			t.Errorf("code %d is %q, want %q", uint16(code), got, want)
		}
	}
}

type timeoutError bool

func (e timeoutError) Error() string { return "slow" }
func (e timeoutError) Timeout() bool { return bool(e) }

func TestCodeOf(t *testing.T) {
	wrap := func(errs ...any) error {
		format := "outer"
		for range errs {
			format += ": %w"
		}
		return fmt.Errorf(format, errs...)
	}
	for _, test := range []struct {
		err  error
		want ErrorCode
	}{
		{nil, ErrOther},
		{errCall, ErrOther},
		{ErrorCode(503), 503},
		{wrap(ErrorCode(503)), 503},
		{wrap(wrap(ErrReset)), ErrReset},
		{errors.Join(errCall, wrap(ErrorCode(429))), 429},
		{errors.Join(errCall, errCall), ErrOther},
		{wrap(errCall, ErrConnect, ErrReset), ErrConnect},
		{timeoutError(true), ErrTimeout},
		{timeoutError(false), ErrOther},
		{wrap(timeoutError(true)), ErrTimeout},
		{&net.OpError{Op: "read", Err: ErrReset}, ErrReset},
		{&net.OpError{Op: "read", Err: timeoutError(true)}, ErrTimeout},
		{os.ErrDeadlineExceeded, ErrTimeout},
		{context.DeadlineExceeded, ErrTimeout},
		{context.Canceled, ErrOther},
	} {
		if got := CodeOf(test.err); got != test.want {
			t.Errorf("code of %v is %v, want %v", test.err, got, test.want)
		}
	}
}

func names(list ...string) []string { return list }

func TestErrorLists(t *testing.T) {
	const article = "S2's lists"
	for _, test := range []struct {
		name     string
		on, not  []string
		yes, no  []ErrorCode
		otherToo bool
	}{
		{name: "empty", yes: []ErrorCode{ErrOther, ErrTimeout, ErrConnect, ErrReset, 404, 429, 503, 100, 599}, otherToo: true},
		{name: "any", on: names("any"), yes: []ErrorCode{ErrTimeout, 200, 404, 599}, otherToo: true},
		{name: "5xx", on: names("5xx"), yes: []ErrorCode{500, 503, 599}, no: []ErrorCode{ErrTimeout, ErrConnect, ErrReset, 499, 429}},
		{name: "4xx but 429", on: names("4xx"), not: names("429"), yes: []ErrorCode{400, 428, 430, 499}, no: []ErrorCode{429, 399, 500}},
		{name: "429", on: names("429"), yes: []ErrorCode{429}, no: []ErrorCode{428, 430}},
		{name: "connect failure", on: names("connect-failure"), yes: []ErrorCode{ErrConnect, ErrConnectTimeout}, no: []ErrorCode{ErrTimeout, ErrReset, 503}},
		{name: "timeout", on: names("timeout"), yes: []ErrorCode{ErrTimeout}, no: []ErrorCode{ErrConnectTimeout, 504}},
		{name: "kinds", on: names("timeout", "reset", "gateway_error"), yes: []ErrorCode{ErrTimeout, ErrReset, 502, 503, 504}, no: []ErrorCode{500, 501, 505, ErrConnect}},
		{name: "refused by a breaker", on: names("breaker-open"), yes: []ErrorCode{ErrBreakerOpen}, no: []ErrorCode{ErrLimit, ErrOther, 503}},
		{name: "refused by a limit", on: names("limit"), yes: []ErrorCode{ErrLimit}, no: []ErrorCode{ErrBreakerOpen, ErrOther, 429}},
		{name: "no wins over yes", on: names("503", "any"), not: names("503"), yes: []ErrorCode{502}, no: []ErrorCode{503}, otherToo: true},
		{name: "not a class", not: names("4xx", "other"), yes: []ErrorCode{503, ErrTimeout}, no: []ErrorCode{400, 499, ErrOther}},
		{name: "nothing is left", on: names("5xx"), not: names("any"), no: []ErrorCode{500, ErrOther, ErrTimeout}},
		{
			name: article, on: names("connect_timeout", "502", "503", "504"), not: names("400", "401", "403", "422", "429"),
			yes: []ErrorCode{ErrConnectTimeout, 502, 503, 504}, no: []ErrorCode{ErrTimeout, ErrConnect, 400, 401, 403, 404, 422, 429, 500},
		},
	} {
		match, err := ErrorList{RetryOn: test.on, NoRetryOn: test.not}.Func()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if match(Outcome{}) {
			t.Errorf("%s: a success is retried", test.name)
		}
		if got := match(Outcome{Err: errCall}); got != test.otherToo {
			t.Errorf("%s: error without a code: %v, want %v", test.name, got, test.otherToo)
		}
		if got := match(Outcome{Err: ErrorCode(9999)}); got != test.otherToo {
			t.Errorf("%s: code that is none: %v, want %v", test.name, got, test.otherToo)
		}
		for _, c := range test.yes {
			if !match(Outcome{Err: c}) || !match(Outcome{Err: fmt.Errorf("call: %w", c)}) {
				t.Errorf("%s: %v is not retried", test.name, c)
			}
		}
		for _, c := range test.no {
			if match(Outcome{Err: c}) {
				t.Errorf("%s: %v is retried", test.name, c)
			}
		}
	}
}

func TestErrorListValidate(t *testing.T) {
	for _, test := range []struct {
		list ErrorList
		want string
	}{
		{ErrorList{}, ""},
		{ErrorList{RetryOn: names("100", "599", "5xx")}, ""},
		{ErrorList{RetryOn: names("099")}, `policies: retry: retry on "099", want a code from 100 to 599 or one of any, timeout, connect-failure`},
		{ErrorList{RetryOn: names("600")}, `retry on "600", want`},
		{ErrorList{RetryOn: names("5x0")}, `retry on "5x0", want`},
		{ErrorList{RetryOn: names("50/")}, `retry on "50/", want`},
		{ErrorList{RetryOn: names("5xx", "")}, `retry on "", want`},
		{ErrorList{NoRetryOn: names("timeouts")}, `policies: retry: no retry on "timeouts", want`},
	} {
		checkError(t, test.list.Validate(), test.want)
		_, err := test.list.Func()
		checkError(t, err, test.want)
	}
}

// A list decides as somebody would who reads the names one by one.
func TestErrorListAgainstTwin(t *testing.T) {
	inClass := func(name string, c ErrorCode) bool {
		switch name {
		case "any":
			return true
		case "timeout":
			return c == ErrTimeout
		case "connect-failure":
			return c == ErrConnect || c == ErrConnectTimeout
		case "connect-timeout":
			return c == ErrConnectTimeout
		case "reset":
			return c == ErrReset
		case "breaker-open":
			return c == ErrBreakerOpen
		case "limit":
			return c == ErrLimit
		case "left":
			return c == ErrLeft
		case "other":
			return c == ErrOther
		case "4xx":
			return c/100 == 4
		case "5xx":
			return c/100 == 5
		case "gateway-error":
			return c == 502 || c == 503 || c == 504
		}
		return fmt.Sprint(uint16(c)) == name
	}
	all := names("404", "429", "500", "503")
	for _, class := range errorClasses {
		all = append(all, class.name)
	}
	rapid.Check(t, func(t *rapid.T) {
		list := ErrorList{
			RetryOn:   rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Draw(t, "retry on"),
			NoRetryOn: rapid.SliceOfN(rapid.SampledFrom(all), 0, 2).Draw(t, "no retry on"),
		}
		match, err := list.Func()
		if err != nil {
			t.Fatal(err)
		}
		for c := range endOfCodes {
			want := false
			for _, name := range list.RetryOn {
				want = want || inClass(name, c)
			}
			for _, name := range list.NoRetryOn {
				want = want && !inClass(name, c)
			}
			if got := match(Outcome{Err: c}); got != want {
				t.Fatalf("%v: %v, want %v", c, got, want)
			}
		}
	})
}
