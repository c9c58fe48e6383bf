package importer

import (
	"strings"
	"testing"
)

// Without retryOn a plain 503 is not retried, and what is lost of the default
// is told.
func TestIstioDefaultRetries(t *testing.T) {
	for _, text := range []string{"http: [{retries: {attempts: 3}}]\n", "http: [{timeout: 2s}]\ntrafficPolicy: {}\n"} {
		checkText(t, "i.yaml", text, []string{
			"on: [connect-failure] # default of retryOn from Istio 1.24 on; up to 1.23 a plain 503",
			"# not in the model: refused-stream in the default of retryOn of host-retry", "# not in the model: unavailable in the default of retryOn of host-retry, a status of gRPC: add 503",
			"# not in the model: cancelled in the default of retryOn of host-retry, a status of gRPC: add 499",
		}, nil)
	}
}

// What is enforced is what Istio sets.
func TestIstioOutlier(t *testing.T) {
	for _, tt := range []struct {
		settings string
		want     []string
	}{
		{"{consecutiveGatewayErrors: 0}", []string{"enforcing_consecutive_gateway_failure: 0 #", "enforcing_success_rate: 0 #", "consecutive5xx: 5 #"}},
		{"{consecutiveGatewayErrors: 3}", []string{"consecutive_gateway_failure: 3 #", "enforcing_consecutive_gateway_failure: 100 #"}},
		{"{maxEjectionPercent: 0}", []string{"max_ejection_percent: 10 # maxEjectionPercent (line 1): 0, which is the default of 10 %"}},
		{"{}", []string{"hosts: 10 # MADE UP: how many there are; of fewer than 10 none is ever ejected", "\n# WARNING: outlier detection of host (Istio):"}},
	} {
		checkText(t, "i.yaml", "trafficPolicy: {outlierDetection: "+tt.settings+"}\n", tt.want, nil)
	}
}

// What a timeout of all attempts leaves for each is true.
func TestIstioLast(t *testing.T) {
	const (
		at    = "# after "
		never = "# no attempt can take longer"
	)
	for _, tt := range []struct{ http, want string }{
		{"timeout: 2s, retries: {attempts: 2, perTryTimeout: 5s}", never + " than all together, 2000 ms"},
		{"timeout: 2s, retries: {attempts: 2, perTryTimeout: 2s}", never},
		{"timeout: 3s, retries: {attempts: 3, perTryTimeout: 1s}", at + "3 attempts that time out no time is left for another"},
		{"timeout: 2s, retries: {attempts: 3, perTryTimeout: 600ms}", at + "3 attempts that time out the last one has at most 200 ms"},
		{"timeout: 2s, retries: {attempts: 9, perTryTimeout: 600ms}", at + "3 attempts that time out the next one has at most 200 ms, and none follows"},
		{"timeout: 4s, retries: {attempts: 3, perTryTimeout: 1s}", ""},
		{"timeout: 9s, retries: {attempts: 3, perTryTimeout: 1s}", ""},
		{"timeout: 0s, retries: {attempts: 3, perTryTimeout: 1s}", ""},
	} {
		not := []string{at, never}
		if tt.want != "" {
			not = nil
		}
		checkText(t, "i.yaml", "http: [{"+tt.http+"}]\n", []string{tt.want}, not)
	}
}

// Routes to one host are told, since each has a node of its own.
func TestRoutesToOneHost(t *testing.T) {
	const route = "    - route: [{destination: {host: ratings}}]\n      retries: {attempts: 2}\n"
	text := "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: ratings}\nspec:\n  hosts: [ratings]\n  http:\n" + route
	for routes, want := range map[string]bool{text: false, text + route: true} {
		im, err := Read("vs.yaml", []byte(routes))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := im.Write(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "# WARNING: ratings and ratings-2: "); got != want {
			t.Errorf("told %v, want %v:\n%s", got, want, b.String())
		}
	}
}
