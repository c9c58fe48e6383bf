package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/stormglass/stormglass/policies/presets"
)

// writeCatalogue writes the document docs/PRESETS.md.
func writeCatalogue(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Presets\n\nThe policies of real libraries under their own names ([policies/presets](../policies/presets)), with the libraries' own defaults. " +
		"**Recorded** ones are held\nagainst recordings of the library and agree to the last row ([how](CONFORMANCE.md)); the others follow a source that was read. " +
		"Every preset is made of a plain\nstruct, such as `presets.GobreakerDefaults()`, whose fields can be changed; the comments of its file tell what is peculiar to the library. By name they are\n`presets.FindBreaker`, `FindBudget` and `FindBackoff`. Scenario files name them too, and set the same fields as [parameters](SCENARIOS.md#parameters-of-presets).\n")

	b.WriteString("\n## Breakers and throttles\n\n")
	head(&b, "defaults")
	for _, p := range presets.Breakers() {
		row(&b, p.Name, p.Library, p.Version, p.Source, p.Doc, p.Recorded)
	}
	b.WriteString("\n`-exp breaker-presets` compares them. Where they are set alike, these differences stay:\n\n")
	for _, p := range presets.Breakers() {
		if p.Differs != "" {
			fmt.Fprintf(&b, "- `%s`: %s\n", p.Name, p.Differs)
		}
	}

	b.WriteString("\n## Retry budgets\n\n")
	head(&b, "defaults")
	for _, p := range presets.Budgets() {
		row(&b, p.Name, p.Library, p.Version, p.Source, p.Doc, p.Recorded)
	}
	b.WriteString("\n`-exp budget-presets` compares them.\n\n## Back-offs\n\n")
	head(&b, "wait before a retry, by default")
	for _, p := range presets.Backoffs() {
		row(&b, p.Name, p.Library, p.Version, p.Source, p.Doc, p.Recorded)
	}
	b.WriteString(`
## Limiters and retries

For use in programs; no experiment has them yet.

| type | library | what it is | recorded |
|---|---|---|---|
` + "| `Resilience4jRateLimiter` | Resilience4j 2.4.0 | permits for each period of a cycle, reservations ahead | yes |\n" +
		"| `AWSAdaptiveLimiter` | AWS SDK for Go 1.48.0 and 1.30.5 | the client rate limiter of adaptive retries | yes |\n" +
		"| `ClientGoBucket` | client-go 0.37.2 | the bucket of the controllers' queue | yes |\n" +
		"| `Resilience4jRetry` | Resilience4j 2.4.0 | attempts, results that are retried, counters | yes |\n" +
		"| `GRPCRetry` | grpc-go 1.85.0 | attempts, push-back and the retry throttle | yes |\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func head(b *strings.Builder, doc string) {
	fmt.Fprintf(b, "| name | library | %s | recorded | source |\n|---|---|---|---|---|\n", doc)
}

func row(b *strings.Builder, name, library, version, source, doc string, recorded bool) {
	answer := "read"
	switch {
	case recorded:
		answer = "yes"
	case library == "":
		answer = "–"
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", name, strings.TrimSpace(library+" "+version), doc, answer, source)
}
