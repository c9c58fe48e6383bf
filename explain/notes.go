package explain

// notes takes over what the model remarks of the system.
func (x *explainer) notes() {
	for _, r := range x.c.Remarks() {
		if r.Rule == "retry-layers" {
			continue // see retryLayers, which knows what is repeated
		}
		x.find(severityOf(r.Rule), r.Rule, r.Place, r.Text, "")
	}
}

// severityOf is how bad a remark of the model is.
func severityOf(rule string) Severity {
	switch rule {
	case "timeout-too-short", "no-timeout", "backoff-too-long", "no-backoff":
		return Problem
	case "no-effect":
		return Note
	}
	return Warning
}
