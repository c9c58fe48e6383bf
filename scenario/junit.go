package scenario

import (
	"encoding/xml"
	"fmt"
	"io"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes reports as JUnit XML: a suite for each case, a test for
// each claim. A claim that is undecided is a test that was skipped.
func WriteJUnit(w io.Writer, reports []Report) error {
	all := junitSuites{Name: "stormglass"}
	for _, r := range reports {
		suite := junitSuite{Name: r.Case.Title(), File: r.Case.File}
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			measured := fmt.Sprintf("measured %s in %s", v.Measured(), replications(len(v.Values)))
			if v.Note != "" {
				measured += ": " + v.Note
			}
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
