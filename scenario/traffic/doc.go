// Package traffic reads what was recorded of real calls and asks breakers what
// they would have done.
//
// [Read] and [ReadFiles] take the results of load generators (k6, vegeta,
// JMeter, hey, Locust), access logs as CSV, range queries of Prometheus, lists
// of incidents written by hand, and the project's own traces. They tell the
// format from the content, and say in a [Report] how they understood it: units,
// rows that were left out and why, first and last time, totals.
//
//	t, err := traffic.ReadFiles([]string{"results.csv.gz"}, traffic.Options{})
//	...
//	err = t.WriteTrace(out)                   // segments, for "trace:" of a scenario
//	breakers, err := traffic.Presets("polly", "hystrix-1.5.13")
//	breakers = append(breakers, traffic.Breakers(config)...)
//	replay, err := t.Play(ctx, breakers, traffic.PlayOptions{})
//	...
//	err = replay.Write(os.Stdout)             // "would have opened at ..."
//
// To read has no effect but the reading: an error is the fault of an option or
// of a file, which it names with the line, the field, the value and the rule.
// No character of the input reaches a message or a report that could command a
// terminal.
//
// What was not recorded is no data: neither a gap nor NaN is taken for health,
// but where the report says so.
package traffic
