// Package model holds the physics of the simulated system: how requests
// arrive, how long work takes, how nodes fail over time, and how nodes and
// links carry requests. It asks no questions of the system; package
// experiments does, and writes the tables.
//
// Everything here is plain data with a Validate method, plus small machines
// made from that data. A machine is a pure function of its configuration and
// of the random stream it is handed: no wall clock, no global generator.
// Times are nanoseconds of virtual time (sim.Time) unless Arrivals asks for
// another tick; intervals are half-open.
//
// A [Config] describes a whole system, and [New] makes one of it that runs:
//
//	s, err := model.New(model.Config{
//		Horizon: time.Minute,
//		Nodes:   []model.Node{{Name: "db", Workers: 10, Service: model.Law{Kind: model.Exponential, Mean: 20 * time.Millisecond}}},
//		Clients: []model.Client{{
//			Name:     "web",
//			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 400},
//			Steps: []model.Step{{Calls: []model.Call{{To: "db", Stack: model.Stack{
//				{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 3}}},
//				{Timeout: 100 * time.Millisecond},
//			}}}}},
//		}},
//	}, seed, replication)
//	if err != nil {
//		return err
//	}
//	err = s.Run(ctx)
//	fmt.Println(s.Ledger().Node("db").Attempts, s.LatencyQuantile("web", 0.99))
//
// Its parts stand alone, too.
//
// [Arrivals] says when original requests come in an open loop, [ClosedLoop]
// describes a closed one, [Law] is a distribution of durations, and [Trace]
// says what an observer saw at each node and when: error ratio, latency and
// capacity, piecewise constant. A trace is made by a [Generator] or read from
// a CSV file by [ReadTrace]; what lies between two of its segments was not
// observed, which is neither healthy nor broken.
//
//	calls, err := model.Arrivals{Kind: model.Poisson, RateRPS: 50}.Source(sim.Stream(1, 0, "arrivals/edge"))
//	if err != nil {
//		return err
//	}
//	cursor, err := trace.Cursor("db")
//	if err != nil {
//		return err
//	}
//	for at, ok := calls.Next(); ok && at < end; at, ok = calls.Next() {
//		segment, observed := cursor.At(time.Duration(at))
//		...
//	}
package model
