// Package table holds what experiments produce and figures consume: tidy
// tables with one row per observation, keys first, then numbers.
//
// A table knows nothing of simulation or drawing. A value that is undefined in
// a row (the detection delay of a breaker that never opened) is NaN in memory
// and an empty cell in CSV; it is never 0 or -1.
//
// A [Text] is a table for the terminal, and [Duration] writes a time for people.
//
//	t := table.New("demo",
//		[]table.Column{{Name: "policy"}},
//		[]table.Column{{Name: "delay_s", Doc: "detection delay"}})
//	t.Append([]string{"count-20-20-50"}, 0.18)
//	err := t.WriteCSV(os.Stdout)
package table
