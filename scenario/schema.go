package scenario

import (
	"bytes"
	"encoding/json"

	"github.com/stormglass/stormglass/scenario/document"
)

// Schema returns the JSON schema of scenario files, for editors.
func Schema() ([]byte, error) {
	plain, err := document.Schema(File{}, "https://github.com/stormglass/stormglass/raw/main/scenarios/schema.json", "Stormglass scenario")
	if err != nil {
		return nil, err
	}
	var whole object
	if err := json.Unmarshal(plain, &whole); err != nil {
		return nil, err
	}
	addParams(whole["$defs"].(object))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(whole)
	return b.Bytes(), err
}
