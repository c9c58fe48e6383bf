//go:build race

package scenarios_test

// raceDetector tells that long computations have nothing more to show.
const raceDetector = true
