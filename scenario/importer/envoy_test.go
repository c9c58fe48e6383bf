package importer

import (
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies/presets"
)

// checkText reads settings and looks for parts of what is written.
func checkText(t *testing.T, path, settings string, want, not []string) {
	t.Helper()
	text, _ := imported(t, path, settings)
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for _, part := range not {
		if strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

// What the preset of the outlier detection knows is passed on, endpoints are
// counted, and defaults without effect are named.
func TestEnvoyHosts(t *testing.T) {
	_, c := imported(t, "envoy-hosts.yaml", example(t, "envoy-hosts.yaml"))
	stack, _ := stackOf(c.Config)
	o := presets.EnvoyOutlierDefaults()
	o.Hosts, o.AlwaysEjectOneHost, o.MaxJitter = 3, true, 1000*ms
	o.SuccessRateMinimumHosts, o.SuccessRateRequestVolume = 3, most
	o.FailurePercentageThreshold, o.FailurePercentageMinimumHosts, o.EnforcingFailurePercentage = 60, 1, 100
	found := false
	for _, l := range stack {
		if l.Breaker != nil {
			if found = true; l.Breaker.Preset != o {
				t.Errorf("%+v, want %+v", l.Breaker.Preset, o)
			}
		}
	}
	if !found || c.Config.Nodes[0].Replicas != 3 {
		t.Errorf("outlier detection %v, %d replicas, want it and 3", found, c.Config.Nodes[0].Replicas)
	}
	checkText(t, "e.yaml", example(t, "envoy-hosts.yaml"), []string{
		"hosts: 3 # load_assignment (line 20): addresses that it lists, each of which may be that of several hosts; one may be out in any case\n",
		"replicas: 3 # load_assignment (line 20)", "hosts: 2 # load_assignment (line 31): addresses that it lists; none is ever ejected\n",
		"# no effect here: Envoy compares the success of hosts, the breaker knows one",
		"b-outlier: # from static_resources.clusters[1].outlier_detection, line 32", "c-max-requests: # from static_resources.clusters[2], line 33",
		"# UNKNOWN: static_resources.listeners[0].filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes[0].route.retry_policy.perTryTimeOut: 1s; did you mean perTryTimeout? (line 12)",
		"# not read: static_resources.clusters[3].name (line 35)", "\n# WARNING: outlier detection of a (Envoy), outlier detection of b (Envoy):\n# such proxies",
	}, []string{"clusters[2].name", "from line 1\n", "10.9.8", "not in the model: static_resources.clusters[0].outlier_detection"})
}

// What has no settings of its own is said to be from where it is used.
func TestPlaces(t *testing.T) {
	for _, name := range []string{"envoy.yaml", "envoy-static.yaml", "envoy-bootstrap.yaml", "istio-resources.yaml", "istio-both.yaml"} {
		checkText(t, name, example(t, name), nil, []string{"from line 1\n"})
	}
}

// Names of which the case is wrong are not read where case counts.
func TestCase(t *testing.T) {
	for _, tt := range []struct{ path, text, want string }{
		{"i.yaml", "http: [{retries: {attempts: 3, perTryTimeOut: 1s}}]\n", "# UNKNOWN: http[0].retries.perTryTimeOut: 1s; did you mean perTryTimeout? (line 1)"},
		{"i.yaml", "http: [{retries: {attempts: 3, per_try_timeout: 1s}}]\n", "did you mean perTryTimeout?"},
		{"e.yaml", "retry_policy: {retry_on: 5xx, Num_Retries: 3}\n", "# UNKNOWN: retry_policy.Num_Retries: 3; did you mean num_retries? (line 1)"},
		{"e.yaml", "routes: [{route: {cluster: a, retrypolicy: {num_retries: 3}}}, {route: {cluster: b, retry_policy: {}}}]\n", "did you mean retryPolicy?"},
		{"e.json", `{"retryPolicy": {"retryOn": "5xx", "numRetries": 3}}`, "attempts: 4 #"},
		{"g.json", `{"methodConfig": [{"name": [{}], "timeOut": "1s"}]}`, "# UNKNOWN: methodConfig[0].timeOut: 1s; did you mean timeout? (line 1)"},
		{"d.yaml", "kind: Resiliency\nspec: {policies: {retries: {r: {policy: constant, maxretries: 2}}}, targets: {apps: {a: {retry: r}}}}\n", "did you mean maxRetries?"},
		{"p.json", `{"retry": {"maxretryattempts": 2}}`, "attempts: 3 # maxretryattempts"},
	} {
		checkText(t, tt.path, tt.text, []string{tt.want}, nil)
	}
}
