// Package conformance replays recordings of real libraries against the
// policies of package presets.
//
// A recording is a CSV file that a real library wrote under a scripted clock:
// inputs, and what the library answered (columns with the prefix "x_"). A
// folder of recordings has a manifest.json that names the library, its version
// and the configuration of each recording. testdata/golden/README.md describes
// the format.
//
// Nothing is skipped: a library, version, kind, configuration key, operation
// or answer column that is not understood is a failure.
package conformance
