package requestlog_test

import (
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/requestlog"
)

// server names the variable with the connection string of a PostgreSQL server
// that tests may use, such as "host=127.0.0.1 port=5433 user=stormglass
// dbname=postgres". They make temporary tables and nothing else.
const server = "STORMGLASS_POSTGRES"

// psql runs a script and returns the lines of its answer, cells between "|".
func psql(t *testing.T, script string) []string {
	t.Helper()
	c := exec.Command("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--dbname="+os.Getenv(server))
	c.Stdin = strings.NewReader(script)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s\nof\n%s", err, out, script)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// The query of the article on retry governance, as it stands there, says of a
// log in PostgreSQL what the ledger says, to the last digit. A run of hours ago
// that lies in the same table is none of its business.
func TestArticlesQueryInPostgres(t *testing.T) {
	if os.Getenv(server) == "" {
		t.Skipf("%s is not set: no PostgreSQL server to load the log into; .ci/run starts one", server)
	}
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("no psql: ", err)
	}
	dir := t.TempDir()
	save := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	now := time.Now()
	text, m := logged(t, storm(20*time.Second), requestlog.Options{Format: requestlog.CSV, Epoch: now.Add(-time.Minute)})
	old, _ := logged(t, storm(7*time.Second), requestlog.Options{Format: requestlog.CSV, Epoch: now.Add(-3 * time.Hour)})
	if m.Repeats == 0 || m.RepeatsSucceeded == 0 || m.RefusedOpen == 0 {
		t.Fatalf("%+v: a run with nothing to measure", m)
	}
	var latency int64 // µs are not enough: to the nanosecond
	for _, r := range rows(t, text) {
		ms, ok := new(big.Rat).SetString(r["latency_ms"])
		if !ok {
			t.Fatal(r)
		}
		latency += ms.Mul(ms, big.NewRat(1e6, 1)).Num().Int64()
	}
	load := func(file string) string { return fmt.Sprintf("\\copy request_log FROM '%s' CSV HEADER\n", file) }
	got := psql(t, "SET search_path = pg_temp;\n\\i create.sql\n"+load(save("log.csv", text))+load(save("old.csv", old))+
		"\\i measures.sql\n"+
		fmt.Sprintf("SELECT %d * 1.0 / %d, %d * 1.0 / %d, %d, %d;\n", m.Repeats, m.Tries, m.RepeatsSucceeded, m.Repeats, m.MostAttempts, m.RefusedOpen)+
		"SELECT count(*), sum(latency_ms) * 1000000 FROM request_log WHERE ts > now() - interval '1 hour';\n")
	if len(got) != 3 {
		t.Fatalf("%d answers, want 3: %q", len(got), got)
	}
	if got[0] != got[1] {
		t.Errorf("the query says %s, the ledger %s", got[0], got[1])
	}
	if want := fmt.Sprintf("%d|%d.000000", m.Tries, latency); got[2] != want {
		t.Errorf("rows and nanoseconds %s, want %s", got[2], want)
	}
	// PostgreSQL's decimals are those of the fraction.
	ratio, ok := new(big.Rat).SetString(strings.Split(got[0], "|")[0])
	if !ok {
		t.Fatal(got[0])
	}
	off := ratio.Sub(ratio, big.NewRat(int64(m.Repeats), int64(m.Tries)))
	if off.Abs(off).Cmp(big.NewRat(1, 1e16)) > 0 {
		t.Errorf("retry ratio %s, want %d/%d", got[0], m.Repeats, m.Tries)
	}
	t.Logf("retry_ratio|retry_success_rate|max_attempt|breaker_open_cnt = %s", got[0])
}
