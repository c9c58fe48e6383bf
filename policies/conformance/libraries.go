package conformance

// libraries are those whose recordings are understood, by the name in the
// manifest. Each stands in its own file.
var libraries = map[string]library{
	"Alibaba Sentinel (Go) circuit breaker": sentinel,
	"sony/gobreaker":                        gobreaker,
	"Netflix/Hystrix":                       hystrix,
	"Finagle RetryBudget (TokenBucket.newLeakyBucket over WindowedAdder)":        finagle,
	"tower TpsBudget (also the retry budget of linkerd2-proxy service profiles)": tower,
	"failsafe-go":                                 failsafe,
	"go-kratos/aegis sre breaker":                 aegis,
	"resilience4j/resilience4j":                   resilience4j,
	"aws-sdk-go-v2 aws/retry":                     aws,
	"grpc-go client retries and retry throttling": grpc,
	"cenkalti/backoff v5":                         cenkalti,
	"Kubernetes client-go / apimachinery":         clientGo,
}
