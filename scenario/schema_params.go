package scenario

import (
	"fmt"

	"github.com/stormglass/stormglass/scenario/document"
)

type object = map[string]any

// addParams says which parameters go with each preset; presets with the same
// ones share them.
func addParams(definitions object) {
	for _, of := range []string{"breaker", "budget", "backoff"} {
		conditions := []any{definitions[of]}
		names := make(map[string]*[]string)
		for _, p := range Presets() {
			if p.Of != of {
				continue
			}
			params := schemaOfParams(p.Params)
			text := fmt.Sprint(params)
			if names[text] == nil {
				names[text] = new([]string)
				conditions = append(conditions, object{
					"if":   object{"properties": object{"preset": object{"enum": names[text]}}, "required": []string{"preset"}},
					"then": object{"properties": object{"params": params}},
				})
			}
			*names[text] = append(*names[text], p.Name)
		}
		definitions[of] = object{"allOf": conditions}
	}
}

func schemaOfParams(params []document.Param) object {
	properties := make(object)
	for _, p := range params {
		var s object
		switch kind := p.Type(); kind {
		case "mapping":
			s = schemaOfParams(p.Inner)
		case "number":
			s = object{"type": "number"}
		case "whole number":
			s = object{"type": "integer"}
		case "true or false":
			s = object{"type": "boolean"}
		case document.UnitPercent, document.UnitRatio:
			s = object{"type": []string{"string", "number"}, "description": kind}
		default:
			s = object{"type": "string", "description": kind}
		}
		properties[p.Key] = s
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}
