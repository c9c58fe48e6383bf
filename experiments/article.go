package experiments

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/expected.csv
var expectedCSV string

// An Expected is one measurement of the articles: the value they print, the
// exact value where theory gives one, and the accepted range. Values are text
// because some are "never".
type Expected struct {
	Table, Experiment, Case, Metric string
	Seed, Exact, Low, High, Note    string
}

// ExpectedRows returns the rows of expected.csv in file order.
var ExpectedRows = sync.OnceValue(func() []Expected {
	records, err := csv.NewReader(strings.NewReader(expectedCSV)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("experiments: data/expected.csv: %v", err)) // embedded, so ours to mend
	}
	rows := make([]Expected, 0, len(records)-1)
	for _, r := range records[1:] {
		rows = append(rows, Expected{r[0], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9]})
	}
	return rows
})

// articleValue returns what the article printed: NaN where it has no such
// row, +Inf for "never".
func articleValue(table, caseName, metric string) float64 {
	for _, e := range ExpectedRows() {
		if e.Table == table && e.Case == caseName && e.Metric == metric {
			return parseExpected(e.Seed)
		}
	}
	return math.NaN()
}

// parseExpected reads a value of expected.csv: "" is NaN, "never" is +Inf.
func parseExpected(text string) float64 {
	if text == "never" {
		return math.Inf(1)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// articleFactor is what a ratio of ours is multiplied by to compare it with a
// metric of the articles: those in percent end in _pct.
func articleFactor(metric string) float64 {
	if strings.HasSuffix(metric, "_pct") {
		return 100
	}
	return 1
}
