package importer

import (
	"strings"
	"testing"
)

// linkerdService is a service with annotations.
func linkerdService(name, namespace string, annotations ...string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: " + namespace + ", annotations: {" + strings.Join(annotations, ", ") + "}}\n"
}

const linkerdAccrual = "balancer.linkerd.io/failure-accrual: consecutive"

// A timeout of retries is retried, others are not; a limit of 0 is the default,
// and any annotation of retries switches them on.
func TestLinkerdRetries(t *testing.T) {
	const timeout, http = "retry.linkerd.io/timeout: 1s", "retry.linkerd.io/http: 5xx"
	for _, tt := range []struct {
		annotations []string
		want        []string
		not         []string
	}{
		{[]string{http, timeout}, []string{"on: [5xx, timeout] #", "attempts: 2 #", "# not in the model: the last attempt has no such timeout in Linkerd"}, nil},
		{[]string{http}, []string{"on: [5xx] #"}, []string{"last attempt"}},
		{[]string{timeout}, []string{"on: [timeout] #"}, nil},
		{[]string{`retry.linkerd.io/limit: "3"`}, []string{"attempts: 4 #", "not_on: [any] #"}, nil},
		{[]string{http, `retry.linkerd.io/limit: "0"`}, []string{"attempts: 2 # retry.linkerd.io/limit (line 3): 0, which is the default of 1: 2 attempts in all"}, nil},
		{[]string{http, linkerdAccrual}, []string{
			"on: [5xx, breaker-open] #", "Linkerd's FailFast", "success: [4xx] #", "\n# WARNING: failure accrual of a (Linkerd):",
		}, nil},
		{[]string{"timeout.linkerd.io/request: 1s"}, nil, []string{"retry:"}},
	} {
		checkText(t, "l.yaml", linkerdService("a", "shop", tt.annotations...), tt.want, tt.not)
	}
	checkText(t, "r.yaml", `apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: r, annotations: {retry.linkerd.io/http: 5xx}}
spec: {rules: [{timeouts: {backendRequest: 1s}}]}
`, []string{"on: [5xx] #", "timeout: 1s #"}, []string{"last attempt"})
}

// A profile switches the annotations of its own service off.
func TestLinkerdProfiles(t *testing.T) {
	const profile = `---
apiVersion: linkerd.io/v1alpha2
kind: ServiceProfile
metadata: {name: pay.shop.svc.cluster.local}
spec: {routes: [{name: a, condition: {method: GET}, timeout: 1s}]}
---
`
	const http = "retry.linkerd.io/http: 5xx"
	text := profile + linkerdService("pay", "shop", http) + "---\n" + linkerdService("cart", "shop", http) + "---\n" + linkerdService("pay", "bank", http) + `---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: way, namespace: shop, annotations: {retry.linkerd.io/http: 5xx}}
spec: {parentRefs: [{name: pay}], rules: [{}]}
`
	im, err := Read("l.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var off []string
	for _, l := range im.lost {
		if strings.HasPrefix(l.text, "not in effect while the ServiceProfile of pay is in force") {
			off = append(off, l.text[strings.LastIndex(l.text, ": ")+2:])
		}
	}
	if got := strings.Join(off, "; "); got != "annotations of pay (line 9); annotations of way (line 21)" {
		t.Errorf("%s, want those of pay in shop and of its route\n%s", got, text)
	}
}
