package scenario

// A MetricDoc describes a metric of claims.
type MetricDoc struct {
	Name, Doc string
	Of        string // client, node or link
	Unit      string // "", s or /s
	Spans     bool   // may be asked of a part of the run
	Intervals bool   // looks at intervals
}

// Metrics lists the metrics of claims.
func Metrics() []MetricDoc {
	var all []MetricDoc
	for i := range metrics {
		m := &metrics[i]
		all = append(all, MetricDoc{m.name, m.doc, m.of, m.unit, m.spans, m.series})
	}
	return all
}
