package table

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func demo() *Table {
	t := New("demo", []Column{{Name: "policy"}, {Name: "trace"}}, []Column{{Name: "delay_s"}, {Name: "n"}})
	t.Append([]string{"a", "x"}, 0.5, 3)
	t.Append([]string{"b", "x"}, math.NaN(), 0)
	t.Append([]string{"a", "y"}, 1e-9, 1e6)
	return t
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := demo().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	const want = "policy,trace,delay_s,n\na,x,0.5,3\nb,x,,0\na,y,1e-09,1000000\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestSelectAndLevels(t *testing.T) {
	d := demo()
	if rows := d.Select(map[string]string{"policy": "a"}); len(rows) != 2 || d.Value(rows[1], "n") != 1e6 || d.Key(rows[1], "trace") != "y" {
		t.Errorf("rows of policy a: %v", rows)
	}
	if rows := d.Select(map[string]string{"no such key": "a"}); rows != nil {
		t.Errorf("rows by an unknown key: %v, want none", rows)
	}
	if got := strings.Join(d.Levels("policy"), " "); got != "a b" {
		t.Errorf("levels %q, want in order of appearance", got)
	}
	if d.Levels("delay_s") != nil || d.Key(d.Rows[0], "nope") != "" || !math.IsNaN(d.Value(d.Rows[0], "nope")) {
		t.Error("an unknown column has a value")
	}
}

func TestAppendPanicsOnWrongWidth(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	demo().Append([]string{"a"}, 1, 2)
}

func TestNewPanicsOnDoubleColumn(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New("x", []Column{{Name: "n"}}, []Column{{Name: "n"}})
}

// What is written reads back the same, bit for bit.
func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := New("x", []Column{{Name: "k"}}, []Column{{Name: "v"}, {Name: "w"}})
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			v := rapid.Float64().Draw(t, "v")
			if math.IsInf(v, 0) {
				v = math.NaN()
			}
			in.Append([]string{rapid.StringMatching(`[ -~é≥"]*`).Draw(t, "k")}, v, math.NaN())
		}
		var b bytes.Buffer
		if err := in.WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		out, err := ReadCSV("x", 1, &b)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Rows) != len(in.Rows) {
			t.Fatalf("%d rows, want %d", len(out.Rows), len(in.Rows))
		}
		for i, r := range in.Rows {
			got := out.Rows[i]
			if got.Keys[0] != r.Keys[0] || got.Values[0] != r.Values[0] && !math.IsNaN(r.Values[0]) || !math.IsNaN(got.Values[1]) {
				t.Fatalf("row %d: %v, want %v", i, got, r)
			}
		}
	})
}

func TestReadCSVErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "header"},
		{"k,v\na,b\n", `line 2: column v: "b"`},
		{"k,v\na\n", "wrong number of fields"},
	} {
		_, err := ReadCSV("f.csv", 1, strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "f.csv") {
			t.Errorf("%q: error %v, want one with %q", c.in, err, c.want)
		}
	}
	if _, err := ReadCSV("f.csv", 3, strings.NewReader("k,v\n")); err == nil {
		t.Error("more key columns than columns: no error")
	}
}

func TestDropEmpty(t *testing.T) {
	tx := Text{Header: []string{"a", "b", "c"}, Left: 1}
	tx.Append("–", "–", "1")
	tx.Append("–", "–", "–")
	tx.DropEmpty("–")
	if strings.Join(tx.Header, "") != "ac" || tx.Rows[0][1] != "1" || len(tx.Rows[1]) != 2 {
		t.Errorf("%v %v, want column b gone, text columns kept", tx.Header, tx.Rows)
	}
	none := Text{Header: []string{"a", "b"}}
	none.DropEmpty("–")
	if len(none.Header) != 2 {
		t.Error("a table without rows loses its header")
	}
}

func TestTextAligns(t *testing.T) {
	tx := Text{Caption: "Demo", Header: []string{"policy", "mean"}, Left: 1, Notes: []string{"a note"}}
	tx.Append("count 20, ≥ 50 %", "1.0")
	tx.Append("x", "29.9")
	tx.Append("short row")
	var b bytes.Buffer
	if err := tx.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `Demo

policy            mean
----------------  ----
count 20, ≥ 50 %   1.0
x                 29.9
short row

a note
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
