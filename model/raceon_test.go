//go:build race

package model_test

// raceDetector tells the tests that only compute, for long and in one
// goroutine, that they have nothing to show under the race detector.
const raceDetector = true
