package traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Every breaker of a system is a player, a shared one once, under the name of
// its link.
func TestBreakersOfASystem(t *testing.T) {
	preset, err := Presets("polly")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(share string) model.Layer {
		return model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: strict.Maker.(policies.BreakerConfig), Share: share}}
	}
	c := model.Config{
		Nodes: []model.Node{{Name: "shop", Steps: []model.Step{{Calls: []model.Call{
			{To: "db", Stack: model.Stack{{Timeout: time.Second}, plain("")}},
			{To: "db", Stack: model.Stack{plain("pool")}},
		}}}}, {Name: "db"}},
		Clients: []model.Client{{Name: "web", Steps: []model.Step{{Calls: []model.Call{
			{To: "shop", Stack: model.Stack{plain(""), {Timeout: time.Second}, {Breaker: &model.BreakerLayer{Preset: preset[0].Maker}}}, Sidecar: model.Stack{plain("")}},
			{To: "db", Stack: model.Stack{plain("pool")}},
			{To: "db"},
		}}}}},
	}
	list := Breakers(c)
	var got []string
	for _, b := range list {
		got = append(got, b.Name)
	}
	if want := "shop-db, share pool, web-shop stack 1, web-shop stack 3, web-shop sidecar 1"; strings.Join(got, ", ") != want {
		t.Fatalf("breakers %q, want %q", got, want)
	}
	r := play(t, read(t, "x", outage(), Options{}), PlayOptions{}, append(list, strict, preset[0])...)
	for i, as := range []int{5, 5, 5, 6, 5} {
		a, b := r.Plays[i], r.Plays[as]
		a.Breaker = b.Breaker
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s plays %+v, want %+v as %s", list[i].Name, a, b, b.Breaker)
		}
	}
}

// The rules of a breaker see what the recording knows of an error.
func TestRulesOfABreaker(t *testing.T) {
	text := "timestamp,elapsed,label,responseCode,responseMessage,success\n"
	for i := range 10 {
		for k, row := range []string{
			`5,a,Non HTTP response code: java.net.SocketTimeoutException,Non HTTP response message: Read timed out,false`,
			`5,a,503,Service Unavailable,false`,
			`5,a,404,Not Found,true`,
		} {
			text += fmt.Sprintf("%d,%s\n", 1760000000000+3000*i+1000*k, row)
		}
	}
	tr := read(t, "x", text, Options{Width: time.Second})
	rules := func(classes map[policies.ErrorCode]policies.Class) Breaker {
		b := strict
		b.Maker = policies.BreakerConfig{
			Rule:    policies.RuleConfig{Window: policies.WindowConfig{Kind: policies.CountWindow, Calls: 5}, MinCalls: 5, FailureRate: 1},
			OpenFor: time.Hour, Probes: 1,
		}
		if classes != nil {
			b.Classify = func(o policies.Outcome) policies.Class {
				if o.Err == nil {
					return policies.Success
				}
				if c, ok := classes[policies.CodeOf(o.Err)]; ok {
					return c
				}
				return policies.Failure
			}
		}
		return b
	}
	const never = -1
	for _, c := range []struct {
		name string
		b    Breaker
		at   int // the call that opens
	}{
		{"without rules a 404 that did not fail is a success", rules(nil), never},
		{"a rule for others does not make a 404 fail", rules(map[policies.ErrorCode]policies.Class{500: policies.Ignored}), never},
		{"404 ignored, five failures in a row: calls 0 1 3 4 6", rules(map[policies.ErrorCode]policies.Class{404: policies.Ignored}), 6},
		{"404 and timeouts ignored: calls 1 4 7 10 13", rules(map[policies.ErrorCode]policies.Class{404: policies.Ignored, policies.ErrTimeout: policies.Ignored}), 13},
		{"404 ignored, a 503 is a success", rules(map[policies.ErrorCode]policies.Class{404: policies.Ignored, 503: policies.Success}), never},
	} {
		p := play(t, tr, PlayOptions{}, c.b).Plays[0]
		got := never
		if len(p.Trips) > 0 {
			got = int(p.Trips[0].At / time.Second)
		}
		if got != c.at {
			t.Errorf("%s: opened at %d s, want %d", c.name, got, c.at)
		}
	}
}

func TestCodesOfErrorsInWords(t *testing.T) {
	for text, want := range map[string]policies.ErrorCode{
		"":                                      policies.ErrOther,
		`Get "http://shop/timeouts/reset": EOF`: policies.ErrReset,
		`Get "http://shop/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`: policies.ErrTimeout,
		`Get "http://shop/": dial tcp 10.0.0.1:80: connect: connection refused`:                          policies.ErrConnect,
		`Get "http://shop/": dial tcp 10.0.0.1:80: i/o timeout`:                                          policies.ErrConnectTimeout,
		`Get "http://shop/": read tcp 10.0.0.2:5->10.0.0.1:80: read: connection reset by peer`:           policies.ErrReset,
		"request timeout":   policies.ErrTimeout,
		"dial: i/o timeout": policies.ErrConnectTimeout,
		"Non HTTP response code: java.net.SocketTimeoutException Non HTTP response message: Read timed out":                   policies.ErrTimeout,
		"Non HTTP response code: org.apache.http.conn.ConnectTimeoutException":                                                policies.ErrConnectTimeout,
		"Non HTTP response code: org.apache.http.conn.HttpHostConnectException Non HTTP response message: Connection refused": policies.ErrConnect,
		"Non HTTP response code: java.net.SocketException Non HTTP response message: Connection reset":                        policies.ErrReset,
		"Non HTTP response code: javax.net.ssl.SSLException":                                                                  policies.ErrOther,
	} {
		if got := codeOfText(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
