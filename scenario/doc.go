// Package scenario reads a system, its load, its failures and claims about
// what will happen from a YAML file, runs it, and says which claims hold.
//
// A [File] is what the text says. [File.Cases] turns it into one [Case] for
// each variant and each combination of swept values, with a [model.Config] and
// claims; [Run] runs them.
package scenario
