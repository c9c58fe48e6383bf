package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// command runs the program and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err := run(t.Context(), args, &out, &errOut)
	return out.String(), err
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const smallScenario = `
name: small
horizon: 10s
nodes: {b: {service: 10ms, faults: [{error: 100%}]}}
clients: {web: {arrivals: 10/s, calls: [{to: b, stack: [{retry: 3}]}]}}
claims: [amplification == CLAIMED]
`

func TestScenarioExitCodes(t *testing.T) {
	good := writeFile(t, "good.yaml", strings.Replace(smallScenario, "CLAIMED", "3", 1))
	bad := writeFile(t, "bad.yaml", strings.Replace(smallScenario, "CLAIMED", "2", 1))
	wrong := writeFile(t, "wrong.yaml", strings.Replace(smallScenario, "horizon", "horizont", 1))

	text, err := command(t, "-scenario", good)
	if err != nil || !strings.Contains(text, "holds") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = command(t, "-scenario", good, "-scenario", bad)
	var usage usageError
	if !errors.Is(err, errClaims) || errors.As(err, &usage) || !strings.Contains(text, "1 claim holds, 1 fails, 0 are undecided") {
		t.Errorf("%v\n%s", err, text)
	}
	_, err = command(t, "-scenario", wrong, "-scenario", filepath.Join("nowhere", "x.yaml"))
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `wrong.yaml:3:1: horizont: unknown key "horizont"; did you mean "horizon"`) ||
		!strings.Contains(err.Error(), "x.yaml") {
		t.Errorf("error %v, want those of both files", err)
	}
	if _, err := command(t, "-junit", "x.xml"); !errors.As(err, &usage) {
		t.Errorf("error %v, want that -junit needs a scenario", err)
	}
}

func TestStarterIsWrittenOnceAndHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "mine.yaml")
	if _, err := command(t, "-init", path); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "-init", path); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("error %v, want the file not to be overwritten", err)
	}
	junit := filepath.Join(t.TempDir(), "claims.xml")
	text, err := command(t, "-scenario", path, "-junit", junit)
	if err != nil || !strings.Contains(text, "7 claims hold, 0 fail, 0 are undecided") {
		t.Errorf("%v\n%s", err, text)
	}
	if xml, err := os.ReadFile(junit); err != nil || !bytes.Contains(xml, []byte("<testsuites")) {
		t.Errorf("junit: %v\n%s", err, xml)
	}
	if text, err = command(t, "-explain", path); err != nil || !strings.Contains(text, "Attempts at a node") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestImportedSettingsRun(t *testing.T) {
	settings := writeFile(t, "application.yml", `
resilience4j.retry.instances.stock: {max-attempts: 4, wait-duration: 150}
`)
	text, err := command(t, "-import", settings)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = command(t, "-scenario", writeFile(t, "imported.yaml", text)); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestReplaySaysWhenABreakerWouldHaveOpened(t *testing.T) {
	var rows strings.Builder
	for i := range 300 {
		status, at := 200, 1760000000000000000+int64(i)*100_000_000
		if i >= 100 {
			status = 503
		}
		rows.WriteString(strings.Join([]string{itoa(at), itoa(int64(status)), "5000000", "0", "0", "", "", "a", itoa(int64(i))}, ",") + "\n")
	}
	out := t.TempDir()
	text, err := command(t, "-replay", writeFile(t, "vegeta.csv", rows.String()), "-breakers", "gobreaker", "-out", out)
	if err != nil || !strings.Contains(text, "would have opened") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(out, "replay.csv")); err != nil {
		t.Error(err)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
