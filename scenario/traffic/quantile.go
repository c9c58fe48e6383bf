package traffic

// quantile is the smallest of some sorted values, at least one, that so many per
// cent of them do not exceed. Per cent are whole, so that no rounding moves the
// rank.
func quantile[T any](sorted []T, percent int) T {
	return sorted[max(0, (percent*len(sorted)+99)/100-1)]
}
