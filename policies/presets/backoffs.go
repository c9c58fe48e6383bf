package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A BackoffPreset is a back-off that somebody published, with its own
// defaults.
type BackoffPreset struct {
	Name    string
	Library string
	Version string // or commit
	Source  string // file of the library
	Doc     string // the rule in a line
	// Recorded says that recordings of the library are replayed against it.
	// The others were read.
	Recorded bool
	Config   policies.DelaysMaker
}

// New returns the back-off.
func (p BackoffPreset) New() (policies.Delays, error) { return p.Config.NewDelays() }

// Backoffs lists the back-offs. Those of no library have a base of 100 ms, a
// factor of 2 and a cap of 20 s.
func Backoffs() []BackoffPreset {
	r4j := BackoffPreset{Library: "Resilience4j", Version: "2.4.0", Source: "IntervalFunction.java", Recorded: true}
	envoy := BackoffPreset{Library: "Envoy", Version: "4280ef77", Source: "source/common/common/backoff_strategy.cc"}
	grpc := BackoffPreset{Library: "grpc-go", Version: "1.85.0"}
	aws := BackoffPreset{Library: "AWS SDK for Go", Version: "1.48.0", Source: "aws/retry/jitter_backoff.go", Recorded: true}
	blog := BackoffPreset{Library: "AWS Architecture Blog", Version: "095a0760", Source: "src/backoff_simulator.py"}
	polly := BackoffPreset{Library: "Polly", Version: "173d6d1d", Source: "src/Polly.Core/Retry/RetryHelper.cs"}
	spring := BackoffPreset{Library: "Spring Retry", Version: "c8977dda", Source: "ExponentialBackOffPolicy.java"}
	k8s := BackoffPreset{Library: "client-go", Version: "0.37.2", Recorded: true}
	retryable := BackoffPreset{Library: "go-retryablehttp", Version: "0.7.8", Source: "client.go"}
	finagle := BackoffPreset{Library: "Finagle", Version: "4feb34cb", Source: "com/twitter/finagle/Backoff.scala"}
	linkerd := BackoffPreset{Library: "linkerd2-proxy", Version: "29637b64", Source: "linkerd/exp-backoff/src/lib.rs"}
	return []BackoffPreset{
		general("none", "no wait", policies.NoBackoff, 0),
		general("fixed", "100 ms", policies.FixedBackoff, 0),
		general("exponential", "100 ms by 2 up to 20 s", policies.ExponentialBackoff, 0),
		general("plus-minus", "the same ± 30 %", policies.ExponentialBackoff, 0.3),
		general("full", "from 0 to 100 ms by 2 up to 20 s", policies.FullJitter, 0),
		general("equal", "from half of 100 ms by 2 up to 20 s to all of it", policies.EqualJitter, 0),
		general("decorrelated", "from 100 ms to the triple of the last wait, up to 20 s", policies.DecorrelatedJitter, 0),
		blog.as("aws-blog-full", "from 0 to 10 ms by 2 up to 2 s", AWSBlogFullJitter()),
		blog.as("aws-blog-equal", "from half of 10 ms by 2 up to 2 s to all of it", AWSBlogEqualJitter()),
		blog.as("aws-blog-decorrelated", "from 5 ms to the triple of the last wait, up to 2 s", AWSBlogDecorrelatedJitter()),
		aws.as("aws-standard", "from 0 to 50 ms by 2 up to 20 s", AWSBackoffDefaults()),
		aws.as("aws-standard-throttled", "from 0 to 1 s by 2 up to 20 s, after an error that tells of throttling", AWSThrottledBackoffDefaults()),
		aws.version("1.30.5").as("aws-standard-legacy", "from 0 to 2 s by 2, then exactly 20 s", AWSLegacyBackoffDefaults()),
		BackoffPreset{Library: "cenkalti/backoff", Version: "5.0.3", Source: "exponential.go", Recorded: true}.
			as("cenkalti", "500 ms by 1.5 up to 60 s, then ± 50 %", CenkaltiDefaults()),
		envoy.as("envoy", "from 0 to 25 ms by 2 up to 250 ms, less 1 ms", EnvoyBackoffDefaults()),
		envoy.version("040783c8").from("docs/root/configuration/http/http_filters/router_filter.rst").
			as("envoy-docs", "from 0 to 25 ms * (2^n-1) up to 250 ms, less 1 ms", EnvoyDocumentedBackoffDefaults()),
		BackoffPreset{Library: "Istio", Version: "86c9f01f", Source: "pilot/pkg/networking/core/route/retry/retry.go"}.
			as("istio", "that of Envoy", EnvoyBackoffDefaults()),
		finagle.as("finagle", "5 s, then from half of 10 s by 2 to all of it, up to 300 s: that of failure accrual", FinagleBackoffDefaults()),
		grpc.recorded("stream.go").as("grpc", "100 ms by 2 up to 1 s, then ± 20 %: proposal A6's example", GRPCBackoffExample()),
		grpc.from("internal/backoff/backoff.go").as("grpc-connect", "1 s, then 1.6 s by 1.6 up to 120 s, ± 20 %", GRPCConnectBackoffDefaults()),
		linkerd.as("linkerd", "25 ms by 2 and up to as much on top, up to 250 ms", LinkerdBackoffDefaults()),
		linkerd.as("linkerd-accrual", "1 s by 2 and up to half on top, up to 60 s: that of the breaker", LinkerdAccrualBackoffDefaults()),
		polly.as("polly", "2 s", PollyBackoffDefaults()),
		polly.as("polly-linear", "2 s times n ± 25 %", PollyBackoffConfig{BackoffType: PollyLinear, UseJitter: true, Delay: 2 * time.Second}),
		polly.as("polly-exponential", "2 s by 2", PollyBackoffConfig{BackoffType: PollyExponential, Delay: 2 * time.Second}),
		polly.as("polly-v2", "decorrelated jitter version 2 about 2 s by 2", PollyBackoffConfig{BackoffType: PollyExponential, UseJitter: true, Delay: 2 * time.Second}),
		r4j.as("resilience4j", "500 ms by 1.5", Resilience4jBackoffDefaults()),
		r4j.as("resilience4j-fixed", "500 ms", Resilience4jRetryDefaults().Wait),
		r4j.as("resilience4j-random", "500 ms by 1.5, ± 50 %", Resilience4jRandomBackoffDefaults()),
		retryable.as("retryablehttp", "1 s by 2 up to 30 s", RetryableHTTPDefaults()),
		retryable.as("retryablehttp-linear", "from 800 ms to 1200 ms, times n: an example of its documents", RetryableHTTPLinearExample()),
		spring.as("spring", "100 ms by 2 up to 30 s", SpringBackoffDefaults()),
		spring.from("ExponentialRandomBackOffPolicy.java").as("spring-random", "the same and up to as much on top, up to 30 s", SpringRandomBackoffDefaults()),
		k8s.from("util/workqueue/default_rate_limiters.go").as("workqueue", "5 ms by 2 up to 1000 s", WorkqueueDefaults()),
		k8s.from("util/flowcontrol/backoff.go").as("flowcontrol", "10 s by 2 up to 300 s: that of the kubelet", FlowcontrolExample()),
		k8s.from("apimachinery pkg/util/wait/backoff.go").as("wait-backoff", "10 ms by 5, 4 times, and up to 10 % on top", WaitBackoffDefaults()),
		k8s.from("apimachinery pkg/util/wait/backoff.go").as("wait-backoff-conflict", "10 ms, 5 times, and up to 10 % on top: that for conflicting updates", WaitBackoffConflict()),
	}
}

// BackoffNames returns their names.
func BackoffNames() []string { return namesOf(Backoffs(), BackoffPreset.name) }

// FindBackoff returns the preset of that name, or an error that lists all.
func FindBackoff(name string) (BackoffPreset, error) {
	return find("back-off", name, Backoffs(), BackoffPreset.name)
}

func (p BackoffPreset) name() string { return p.Name }

// general describes a back-off of no library.
func general(name, doc string, kind policies.BackoffKind, jitter float64) BackoffPreset {
	c := policies.BackoffConfig{Kind: kind, Base: 100 * time.Millisecond, Multiplier: 2, Cap: 20 * time.Second, Jitter: jitter}
	return BackoffPreset{Name: name, Doc: doc, Config: c}
}

func (p BackoffPreset) as(name, doc string, c policies.DelaysMaker) BackoffPreset {
	p.Name, p.Doc, p.Config = name, doc, c
	return p
}

func (p BackoffPreset) version(v string) BackoffPreset {
	p.Version = v
	return p
}

func (p BackoffPreset) from(source string) BackoffPreset {
	p.Source = source
	return p
}

func (p BackoffPreset) recorded(source string) BackoffPreset {
	p.Source, p.Recorded = source, true
	return p
}
