package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/experiments"
	"github.com/stormglass/stormglass/table"
)

// verify measures what the articles measured, prints both, writes verify.csv,
// and fails if one value of ours is out of the accepted range.
func verify(ctx context.Context, s *settings, out, stderr io.Writer) error {
	if err := makeOut(s); err != nil {
		return err
	}
	bar := newProgress(stderr, "verify", s.quiet)
	checks, unbuilt, err := experiments.Verify(ctx, s.seed, s.workers, bar.update)
	bar.finish()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("verify: interrupted, nothing written")
		}
		return err
	}
	failures := 0
	t := table.Text{
		Caption: "The articles' measurements, ours, and theory",
		Header:  []string{"", "table", "case", "metric", "article", "ours", "theory", "accepted"},
		Left:    4,
	}
	var reasons []string
	for _, c := range checks {
		mark := "ok"
		if !c.OK {
			mark = "FAIL"
			failures++
		}
		article := c.Seed
		if c.Reason != "" {
			k := note(&reasons, c.Reason)
			article += fmt.Sprintf(" [%d]", k)
		}
		accepted := c.Low
		if c.High != c.Low {
			accepted += " … " + c.High
		}
		t.Append(mark, strings.SplitN(c.Table, "-", 2)[0], c.Case, c.Metric, article, short(c.Ours), c.Exact, accepted)
	}
	for i, r := range reasons {
		t.Notes = append(t.Notes, fmt.Sprintf("[%d] %s.", i+1, r))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%d of %d measurements inside the accepted range.", len(checks)-failures, len(checks)))
	if len(unbuilt) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Not built yet: %s.", strings.Join(unbuilt, ", ")))
	}
	if err := t.Write(out); err != nil {
		return err
	}
	path := filepath.Join(s.out, "verify.csv")
	if err := saveFile(path, func(w io.Writer) error { return writeChecks(w, checks) }); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nwritten:", path)
	if failures > 0 {
		return fmt.Errorf("verify: %d of %d measurements out of range", failures, len(checks))
	}
	return nil
}

// note returns the 1-based number of a text in the list, adding it if new.
func note(list *[]string, text string) int {
	for i, t := range *list {
		if t == text {
			return i + 1
		}
	}
	*list = append(*list, text)
	return len(*list)
}

// short rounds a number for the terminal to six digits.
func short(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func writeChecks(w io.Writer, checks []experiments.Check) error {
	cw := csv.NewWriter(w)
	cw.Write([]string{"table", "case", "metric", "seed_value", "exact_value", "low", "high", "ours", "ok"})
	for _, c := range checks {
		cw.Write([]string{c.Table, c.Case, c.Metric, c.Seed, c.Exact, c.Low, c.High, c.Ours, strconv.FormatBool(c.OK)})
	}
	cw.Flush()
	return cw.Error()
}
