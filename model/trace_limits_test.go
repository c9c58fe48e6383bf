package model

import (
	"io"
	"strings"
	"testing"
)

// forever repeats one byte without end.
type forever byte

func (f forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func TestReadTraceRefusesEndlessLines(t *testing.T) {
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{forever(0), "x.csv: a line of more than 1 MiB"},
		{forever('7'), "x.csv: a line of more than 1 MiB"},
		{io.MultiReader(strings.NewReader("start_s,end_s,node,error_ratio\n0,1,\""), forever('a')), "x.csv: a line of more than 1 MiB"},
	} {
		if _, err := ReadTrace("x.csv", c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
