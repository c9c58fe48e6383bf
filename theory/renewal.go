package theory

import "math"

// A TripInterval is the number of calls from one trip to the next, at a
// constant failure probability. Trips empty the window, so these numbers are
// independent and identically distributed.
type TripInterval struct {
	Mean float64 // calls; +Inf if there are no trips
	SD   float64 // calls; +Inf if there are no trips
}

// Rate is the number of trips per call in the long run: 1/mean (the elementary
// renewal theorem, Feller 1968, chapter XIII).
func (t TripInterval) Rate() float64 { return 1 / t.Mean }

// CountSD approximates the standard deviation of the number of trips in many
// calls: sqrt(calls·variance/mean³) (the central limit theorem for renewal
// processes, Feller 1968, chapter XIII). It is good when the expected number
// of trips is large.
func (t TripInterval) CountSD(calls int64) float64 {
	if math.IsInf(t.Mean, 1) {
		return 0
	}
	return t.SD / t.Mean * math.Sqrt(float64(calls)/t.Mean)
}

// TripInterval returns mean and standard deviation of the calls between trips
// at failure probability p, from the chain without restarts: the mean is the
// sum over i = 0, 1, … of P[no trip in i calls]. It works for every p.
func (c *CountChain) TripInterval(p float64) (TripInterval, error) {
	if err := checkProbability("trip interval", "failure probability", p); err != nil {
		return TripInterval{}, err
	}
	s := newSurvival(c)
	hazards := c.newSettle()
	var first, second float64 // moments of the interval
	for i := 0.0; ; i++ {
		alive := math.Exp(s.log)
		if alive < 1e-18 {
			break
		}
		first += alive
		second += (2*i + 1) * alive
		hazard := s.step(p)
		if hazards.add(hazard) {
			// The rest is geometric, from i+1 calls on.
			alive = math.Exp(s.log)
			first += alive / hazard
			second += alive * ((2*i+3)/hazard + 2*(1-hazard)/(hazard*hazard))
			break
		}
		if s.w.tired() {
			return TripInterval{}, s.w.tooLong(int64(i), p)
		}
	}
	if math.IsInf(first, 1) || math.IsNaN(first) {
		return TripInterval{Mean: math.Inf(1), SD: math.Inf(1)}, nil
	}
	if first > 1e100 { // practically geometric, and its square may overflow
		return TripInterval{Mean: first, SD: first}, nil
	}
	return TripInterval{Mean: first, SD: math.Sqrt(max(second-first*first, 0))}, nil
}
