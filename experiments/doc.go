// Package experiments turns questions into tables. An experiment is data: its
// factors with their levels, its metrics, and a function that measures one
// replication; the rest of the package crosses the factors, runs the jobs on
// all cores, and summarises the replications.
//
// A job is keyed by (experiment, cell, replication) and depends on nothing
// else: its random streams are named, so every cell of one replication sees
// the same arrivals and the same luck (common random numbers), and results do
// not depend on the number of workers.
//
//	e, err := experiments.Lookup("false-trips")
//	plan, err := experiments.NewPlan(e, experiments.Options{Seed: 1})
//	result, err := plan.Run(ctx, runtime.NumCPU(), nil)
//	err = result.Summary().WriteCSV(os.Stdout)
package experiments
