package scenario

import "github.com/stormglass/stormglass/scenario/document"

// Schema returns the JSON schema of scenario files, for editors.
func Schema() ([]byte, error) {
	return document.Schema(File{}, "https://github.com/stormglass/stormglass/scenarios/schema.json", "Stormglass scenario")
}
