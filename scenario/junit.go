package scenario

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes reports as JUnit XML: a suite for each case, a test for
// each claim. A claim that is undecided is a test that was skipped. Cases that
// are not judged, since the run ended before, are errors.
func WriteJUnit(w io.Writer, reports []Report, cases []*Case) error {
	all := junitSuites{Name: "stormglass"}
	judged := make(map[*Case]bool)
	for _, r := range reports {
		judged[r.Case] = true
		suite := junitSuite{Name: r.Case.Title(), File: r.Case.File}
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			measured := strings.Join(append([]string{fmt.Sprintf("%s: %s", replications(len(v.Values)), v.Measured())}, v.Notes...), "; ")
			c := junitCase{Name: v.Claim, Class: r.Case.Title(), Output: measured}
			switch v.Status {
			case Fails:
				suite.Failures++
				c.Failure = &junitMessage{measured, v.Why}
			case Undecided:
				suite.Skipped++
				c.Skipped = &junitMessage{Message: "undecided: " + measured}
			}
			suite.Tests++
			suite.Cases = append(suite.Cases, c)
		}
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Skipped += suite.Skipped
		all.Suites = append(all.Suites, suite)
	}
	for _, c := range cases {
		if judged[c] {
			continue
		}
		all.Tests++
		all.Errors++
		all.Suites = append(all.Suites, junitSuite{
			Name: c.Title(), File: c.File, Tests: 1, Errors: 1,
			Cases: []junitCase{{Name: "run", Class: c.Title(), Error: &junitMessage{Message: "not judged: the run ended before"}}},
		})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func replications(n int) string {
	if n == 1 {
		return "1 replication"
	}
	return fmt.Sprintf("%d replications", n)
}
