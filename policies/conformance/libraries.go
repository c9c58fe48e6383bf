package conformance

// libraries are those whose recordings are understood, by the name in the
// manifest. Each stands in its own file.
var libraries = map[string]library{
	"Alibaba Sentinel (Go) circuit breaker": sentinel,
}
