package scenario

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write scenarios/schema.json")

var schemaPath = filepath.Join("..", "scenarios", "schema.json")

func TestSchemaIsCurrent(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaPath, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: go test ./scenario -run Schema -update", schemaPath)
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instance is a YAML text as the values of JSON.
func instance(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsScenarios(t *testing.T) {
	s := compiledSchema(t)
	for _, path := range scenarioFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	const good = "{horizon: 1s, nodes: {b: }, clients: {w: {arrivals: 1/s, calls: [b]}}"
	if err := s.Validate(instance(t, []byte(good+"}"))); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"[]", "{}", "{nodes: {}, clients: {}}", good + ", horizn: 1s}", good + ", replications: many}", good + ", seed: 1.5}",
		good + ", variants: {a: {sets: {}}}}", good + ", policies: {p: {retry: {attempt: 3}}}}", good + ", policies: {p: {retry: {budget: {kind: token}}}}}",
	} {
		if s.Validate(instance(t, []byte(text))) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
