package document

import (
	"errors"
	"fmt"
	"go.yaml.in/yaml/v3"
	"strings"
	"testing"
	"time"
)

// A thing has a field of each kind.
type thing struct {
	Place
	Name  string        `key:"name,required"`
	N     int           `key:"n"`
	U     uint64        `key:"u"`
	X     float64       `key:"x"`
	Yes   bool          `key:"yes"`
	Kind  string        `key:"kind" enum:"big,small"`
	Wait  wait          `key:"wait"`
	List  []int         `key:"list"`
	Parts Map[part]     `key:"parts"`
	Any   Map[Anything] `key:"any"`
	More  Params        `key:"more"`
}

type part struct {
	Place
	Size int `key:"size"`
}

func (p *part) ParseShort(text string) error {
	_, err := fmt.Sscan(text, &p.Size)
	if err != nil {
		return fmt.Errorf("%q, want a size", text)
	}
	return nil
}

type wait time.Duration

func (w *wait) ParseText(text string) error {
	d, err := time.ParseDuration(text)
	*w = wait(d)
	return err
}

// read returns the thing in a text, and its problems.
func read(text string) (v thing, err error) {
	root, err := Parse("f", []byte(text))
	if err != nil {
		return v, err
	}
	problems := &Problems{File: "f"}
	Decode(root, &v, problems)
	return v, problems.Err()
}

func TestGood(t *testing.T) {
	for name, text := range map[string]string{
		"plain": "name: a\nn: 1_000\nu: 7\nx: 1e3\nyes: on\nkind: big\nwait: 5s\nlist: [1, 2]\nparts: {p: 3, q: {size: 4}, r: }\n",
		"flow":  `{name: a, n: 1000, u: 7, x: 1000, yes: true, kind: "big", wait: 5s, list: [1, 2], parts: {p: {size: 3}, q: 4, r: {}}}`,
		"CRLF":  "name: a\r\nn: 1000\r\nu: 7\r\nx: 1000\r\nyes: yes\r\nkind: big\r\nwait: 5s\r\nlist: [1, 2]\r\nparts: {p: 3, q: 4, r: }\r\n",
		"BOM":   "\ufeffname: a\nn: 1000\nu: 7\nx: 1000\nyes: true\nkind: big\nwait: 5s\nlist:\n- 1\n- 2\nparts: {p: 3, q: 4, r: }",
		"alias": "name: a\nn: &n 1000\nu: 7\nx: *n\nyes: true\nkind: big\nwait: 5s\nlist: [1, 2]\nparts: {p: &p {size: 3}, q: 4, r: }\n",
		"dash":  "--- # one\nname: a\nn: 1000\nu: 7\nx: 1000\nyes: true\nkind: big\nwait: 5s\nlist: [1, 2]\nparts: {p: 3, q: 4, r: }\n...\n",
	} {
		v, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprintln(v.Name, v.N, v.U, v.X, v.Yes, v.Kind, time.Duration(v.Wait), v.List, v.Parts.Keys, v.Parts.Values[0].Size, v.Parts.Values[1].Size)
		if want := "a 1000 7 1000 true big 5s [1 2] [p q r] 3 4\n"; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "name: a\nnmae: b", `f:2:1: nmae: unknown key "nmae"; did you mean "name"?`},
		{"unknown key below", "name: a\nparts:\n  p:\n    sise: 3", `f:4:5: parts.p.sise: unknown key "sise"; did you mean "size"? known: size`},
		{"twice", "name: a\nn: 1\nn: 2", "f:3:1: n: given twice, first on line 2"},
		{"name twice", "name: a\nparts:\n  p: 1\n  p: 2", "f:4:3: parts.p: given twice, first on line 3"},
		{"missing", "n: 1", "f:1:1: file: name missing, want it given"},
		{"no number", "name: a\nn: some", `f:2:4: n: "some", want a whole number`},
		{"no whole number", "name: a\nn: 1.5", `f:2:4: n: "1.5", want a whole number`},
		{"huge", "name: a\nn: 99999999999999999999", `f:2:4: n: "99999999999999999999", want a whole number`},
		{"below 0", "name: a\nu: -1", `f:2:4: u: "-1", want a whole number of 0 or more`},
		{"NaN", "name: a\nx: .nan", `f:2:4: x: ".nan", want a number`},
		{"infinite", "name: a\nx: 1e999", `f:2:4: x: "1e999", want a number`},
		{"no bool", "name: a\nyes: maybe", `f:2:6: yes: "maybe", want true or false`},
		{"enum", "name: a\nkind: bg", `f:2:7: kind: "bg"; did you mean "big"? known: big, small`},
		{"list for text", "name: [a]", "f:1:7: name: a list, want a text"},
		{"mapping for number", "name: a\nn: {a: 1}", "f:2:4: n: a mapping, want a whole number"},
		{"text for mapping", "name: a\nparts: x", `f:2:8: parts: "x", want a mapping of names`},
		{"short form", "name: a\nparts: {p: big}", `f:2:12: parts.p: "big", want a size`},
		{"list element", "name: a\nlist:\n  - 1\n  - b", `f:4:5: list[1]: "b", want a whole number`},
		{"nothing", "name:\nn: 1", "f:1:1: name: nothing, want a text"},
		{"null", "name: a\nwait: null", "f:2:7: wait: nothing, want a value"},
		{"tilde", "name: a\nn: ~", "f:2:4: n: nothing, want a whole number"},
		{"merge", "name: a\nparts: {p: &p {size: 3}, q: {<<: *p}}", "f:2:30: parts.q.<<: a merge key, want the keys themselves"},
		{"merge of names", "name: a\nparts:\n  <<: {p: 3}", "f:3:3: parts.<<: a merge key"},
		{"a list as key", "name: a\nparts: {[p]: 3}", "f:2:9: parts: a list as a key, want a text"},
		{"an empty key", "name: a\nparts: {\"\": 3}", `f:2:9: parts.: "" as a key, want a text`},
		{"a key of two lines", "name: a\nparts: {\"p\\nq\": 3}", `f:2:9: parts: "p\nq" as a key, want a text in one line`},
		{"nothing as key", "name: a\nparts: {~: 3}", "f:2:9: parts.~: nothing as a key, want a text"},
		{"long key", "name: a\nparts: {" + strings.Repeat("k", 201) + ": 3}", "f:2:9: parts: a key of 201 bytes, want at most 200"},
		{"an alias is told where it stands", "name: a\nany: {a: &a x}\nn: *a", `f:3:4: n: "x", want a whole number`},
		{"list at the top", "- name: a", "f:1:1: file: a list, want a mapping with name, n, u"},
		{"text at the top", "name", `f:1:1: file: "name", want a mapping with name, n, u`},
		{"nothing at the top", "---\n", "file: nothing, want a mapping"},
		{"empty", "", "f:1:1: file: empty, want a scenario"},
		{"comment", "# only\n", "f:1:1: file: empty, want a scenario"},
		{"two documents", "name: a\n---\nname: b", "f:2:1: file: a second document, want one in each file"},
		{"no UTF-8", "name: a\nn: \xff", "f:2:4: file: byte 0xff, want a text in UTF-8"},
		{"UTF-16", "\xff\xfen\x00", "f:1:1: file: byte 0xff, want a text in UTF-8"},
		{"zero byte", "name: a\nn: \x00", "f:2:4: file: character U+0000, want a text without control characters"},
		{"tab", "name: a\nparts:\n\tp: 3", "f:3:1: file: no YAML: found character that cannot start any token"},
		{"indentation", "name: a\nn: 1\nparts:\n  p: 1\n q: 2\nx: 1\n", "f:5:1: file: no YAML: did not find expected key"},
		{"indented first line", "  name: a\nn: 1\n", "f:2:1: file: no YAML: did not find expected <document start>"},
		{"open bracket", "name: a\nlist: [1, 2\nn: 1\n", "f:2:1: file: no YAML"},
		{"open quote", "name: a\nkind: \"big\nn: 1\n", "f:2:1: file: no YAML: found unexpected end of stream"},
		{"unknown alias", "name: a\nn: *n", "f:2:4: file: no YAML: unknown anchor 'n' referenced"},
		{"itself", "name: a\nany: &a {b: *a}", `f:2:13: file: alias "*a" stands in what it means`},
	} {
		_, err := read(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

func TestProblemsAreToldInOrder(t *testing.T) {
	_, err := read("n: x\nparts:\n  p: {siz: 1}\n  q: y\nx: z\n")
	want := []string{"f:1:1: file: name missing", "f:1:4: n: ", "f:3:7: parts.p.siz: ", "f:4:6: parts.q: ", "f:5:4: x: "}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%v", err)
	}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w) {
			t.Errorf("line %d: %s, want %s first", i+1, lines[i], w)
		}
	}
	var p Problem
	if !errors.As(err, &p) || p.File != "f" {
		t.Errorf("no Problem in %v", err)
	}
}

func TestManyProblems(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: a\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	_, err := read(b.String())
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != most+1 || lines[most] != "f: 2950 more problems" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// Null removes what is at a path.
func TestSetRemoves(t *testing.T) {
	root, _ := Parse("f", []byte("list: [1, 2, 3]\nparts: {p: 3, q: 4}"))
	null := Anything{node: &Node{Kind: yaml.ScalarNode, Tag: "!!null"}}
	for path, want := range map[string]string{
		"list[1]": "list: [1, 3]\nparts: {p: 3, q: 4}\n", "parts.p": "list: [1, 2, 3]\nparts: {q: 4}\n", "parts": "list: [1, 2, 3]\n",
	} {
		changed, err := Set(root, path, null)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := yaml.Marshal(Prune(changed)); string(text) != want {
			t.Errorf("%s: %q, want %q", path, text, want)
		}
	}
	both, _ := Set(root, "list[0]", null)
	if both, _ = Set(both, "list[1]", null); both == nil {
		t.Fatal("the second place has moved")
	}
	if text, _ := yaml.Marshal(Prune(both)); string(text) != "list: [3]\nparts: {p: 3, q: 4}\n" {
		t.Errorf("two places removed: %q", text)
	}
	if _, err := Set(both, "list[0].x", null); err == nil {
		t.Error("what is removed has keys")
	}
	if _, err := Set(root, "parts.r", null); err == nil || !strings.Contains(err.Error(), `there is no "r" to remove`) {
		t.Error(err)
	}
}

func TestSet(t *testing.T) {
	for _, tc := range []struct{ path, want string }{
		{"n", ""}, {"x", ""}, {"list[1]", ""}, {"parts.p.size", ""}, {"parts.new", ""}, {"parts.r.size", ""},
		{"list[2]", "there is no place [2]"}, {"list[-1]", "whole number in brackets"}, {"list[x]", "whole number in brackets"},
		{"list[1]2]", "whole number in brackets"}, {"", "keys joined by dots"}, {"a..b", "keys joined by dots"}, {"part.p", `there is no "part"; did you mean "parts"?`},
		{"n.x", `there is no "x" in "1", want a mapping`}, {"list.x", `there is no "x" in a list, want a mapping`},
	} {
		v, err := read("name: a\nn: 1\nlist: [1, 2]\nparts: {p: {size: 3}, r: }\nany: {k: 7}")
		if err != nil {
			t.Fatal(err)
		}
		root, _ := Parse("f", []byte("name: a\nn: 1\nlist: [1, 2]\nparts: {p: {size: 3}, r: }"))
		changed, err := Set(root, tc.path, v.Any.Values[0])
		if tc.want != "" {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %s", tc.path, err, tc.want)
			}
			continue
		}
		var after, before thing
		problems := &Problems{}
		Decode(changed, &after, problems)
		Decode(root, &before, problems)
		if err != nil || problems.Err() != nil || fmt.Sprint(after) == fmt.Sprint(before) {
			t.Errorf("%s: %v, %v, %+v", tc.path, err, problems.Err(), after)
		}
	}
}
