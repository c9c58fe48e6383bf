// Package importer reads the settings that people have for the resilience of
// their services, and writes the scenario that they mean: the policies in the
// order in which their library applies them, with nodes and clients around
// them that are made up.
//
// It knows Resilience4j (application.yml and .properties), Envoy, Istio, gRPC
// service configs, Linkerd, Polly, Hystrix with Ribbon, Sentinel and Dapr, each
// with its own units and its own way of counting attempts.
//
// Nothing of a file is lost silently. A value has its source and its meaning
// in a comment beside it, or the word "default"; what has no counterpart in
// the model is listed with its line, and what is probably mistyped as UNKNOWN.
// What no file says, such as the load, the nodes and the claims, is marked with
// MADE UP, and errors that a file calls by other names with GUESSED. Breakers that
// a library has for each host, which the model has for a link, get a WARNING. Forms
// that the library itself would refuse are errors. Names of keys are compared as
// the library does: a wrong case is UNKNOWN where case counts.
//
//	im, err := importer.Read("application.yml", text)
//	if err != nil {
//		return err // a line for each problem: file:line:column: path: rule
//	}
//	return im.Write(os.Stdout)
package importer
