package scenario

import _ "embed"

// Starter is a scenario with a comment for each part, to begin with.
//
//go:embed starter.yaml
var Starter []byte
