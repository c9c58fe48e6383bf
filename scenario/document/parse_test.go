package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
)

func inUTF16(text string) string {
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

// Forms of YAML that are seldom used are read, or refused where they stand.
func TestForms(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"block", "name: |\n  a\n  b\nkind: >-\n  big\n", ""},
		{"carriage returns", "name: a\rn: 5\r", ""},
		{"tab before a value", "name:\ta\n", ""},
		{"mark of a beginning", "\ufeffname: a\n", ""},
		{"mark in the middle", "name: a\n\ufeffn: 5\n", "f:2:1: file: character U+FEFF, want a text without control characters"},
		{"UTF-16", inUTF16("name: a\n"), "f:1:1: file: byte 0xfe, want a text in UTF-8"},
		{"escape", "name: é\x1b[31m\n", "f:1:8: file: character U+001B, want a text without control characters"},
		{"line in Windows", "name: a\r\nx: big\r\n", `f:2:4: x: "big", want a number`},

		{"tags that fit", "name: !!str 5\nn: !!int \"5\"\nx: !!float 5\nyes: !!bool true\nlist: !!seq [1]\nparts: !!map {p: !!null }\n", ""},
		{"full tag", "name: a\nn: !<tag:yaml.org,2002:int> 5\n", ""},
		{"no number", "name: a\nn: !!int x\n", `f:2:4: file: tag !!int on "x", want a value that it fits, or no tag`},
		{"no float", "name: a\nx: !!float true\n", `f:2:4: file: tag !!float on "true"`},
		{"a list as a mapping", "name: a\nparts: !!map [p]\n", "f:2:8: file: tag !!map on a list"},
		{"a list as a text", "name: !!str [p]\n", "f:1:7: file: tag !!str on a list"},
		{"own tag", "name: a\nany: {b: !foo x}\n", `f:2:10: file: tag "!foo", want none`},
		{"own tag of a key", "name: a\n!foo n: 5\n", `f:2:1: file: tag "!foo", want none`},
		{"own tag of a mapping", "name: a\nparts: !foo {p: 3}\n", `f:2:8: file: tag "!foo", want none`},
		{"bytes", "name: !!binary aGVsbG8=\n", `f:1:7: file: tag "!!binary", want none`},

		{"alias of itself in a list", "name: a\nlist: &a [1, *a]\n", `f:2:14: file: alias "*a" stands in what it means`},
		{"alias of itself as a key", "name: a\nany: &a\n  ? *a\n  : 1\n", `f:3:5: file: alias "*a" stands in what it means`},
		{"alias of what is deep", "name: a\nany:\n  a: &a " + strings.Repeat("[", 25) + strings.Repeat("]", 25) + "\n  b: " + strings.Repeat("[", 25) + "*a" + strings.Repeat("]", 25),
			"f:4:31: file: nested too deeply, want at most 40 levels"},
		{"alias of the wrong kind", "name: &n a\nn: *n\n", `f:2:4: n: "a", want a whole number`},
		{"alias in parameters", "name: &n a\nmore:\n  x: *n\n", ""},
		{"unknown alias", "name: a # *b\nlist: [1, *bc, *b]\n", "f:2:11: file: no YAML: unknown anchor 'bc' referenced"},
		{"unknown alias in a long text", "name: a\nlist: [1, *b]\n" + strings.Repeat("# long\n", 10_000), "f:2:11: file: no YAML: unknown anchor 'b' referenced"},

		{"turned", "name: a\nkind: \u202egib\n", `f:2:7: kind: "\u202egib", want a text without control characters`},
		{"escaped escape", `{name: a, kind: "\e[31m"}`, `f:1:17: kind: "\x1b[31m", want a text without control characters`},
		{"turned key", "name: a\nany: {\u202egib: 1}\n", `f:2:7: any: "\u202egib" as a key, want a text in one line of characters that are printed`},
		{"invisible key", "name: a\nany: {a\u200b: 1}\n", `"a\u200b" as a key`},
		{"lines in a key", "name: a\nany: {\"a\\Lb\": 1}\n", `"a\u2028b" as a key`},
		{"long value", "name: a\nkind: " + strings.Repeat("q", 300_000), "qqq ... qqq"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := read(tc.text)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%.500v\nwant %s", err, tc.want)
			}
			checkShown(t, err)
		})
	}
}

// checkShown wants each problem in a line that a terminal shows as it is.
func checkShown(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > most+1 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if strings.ContainsFunc(l, func(r rune) bool { return !unicode.IsPrint(r) }) || len(l) > 12*longest {
			t.Errorf("%.500q, %d bytes", l, len(l))
		}
	}
}

// What a rule quotes and what a file is called reach no terminal as they are.
func TestShown(t *testing.T) {
	problems := Problems{File: "\x1b[2J.yaml"}
	problems.Add(Place{Line: 1, Column: 1}, "there is no node %s", "a\nb\u202e")
	if got, want := problems.Err().Error(), `\x1b[2J.yaml:1:1: file: there is no node a\nb\u202e`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	_, err := Parse("\a.yaml", nil)
	checkShown(t, err)
}

// Aliases of aliases are refused where they are first too many.
func TestMergedLaughs(t *testing.T) {
	text := "name: a\nany:\n  a0: &a0 {x: 1}\n"
	for i := range 9 {
		text += fmt.Sprintf("  a%d: &a%d {<<: [%s*a0]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	used, err := work(text)
	if err == nil || !strings.Contains(err.Error(), "too large once aliases are followed, want at most 200000 values") {
		t.Error(err)
	}
	if used > maxWork {
		t.Errorf("%d MB", used>>20)
	}
}

// FuzzRead reads any text: nothing panics, and problems stand in the text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"name: a\nn: 1_000\nu: 7\nx: 1e3\nyes: on\nkind: big\nwait: 5s\nlist: [1, 2]\nparts: {p: 3, q: {size: 4}, r: }\n",
		"name: &n a\nany: {a: &a [1, *n], b: *a}\nmore: {x: !!int \"5\"}\n", "list: &a [*a]", "{name: \"\\e\", <<: {n: 1}}", "%YAML 1.1\n---\n? a\n: |\n  b\n...\n",
		"name: *x\n", "\ufeffname: a\r\nparts: {? [p] : 3}\r\n", laughs(),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := read(text)
		checkShown(t, err)
		var p Problem
		lines := 2 // what is missing stands behind the last
		for _, r := range text {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
				lines++
			}
		}
		if errors.As(err, &p) && (p.Line < 1 || p.Column < 1 || p.Line > lines) {
			t.Errorf("%v in %d lines", err, lines)
		}
	})
}
