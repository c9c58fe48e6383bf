package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// laughs is a document that a few aliases make very large.
func laughs() string {
	b := "name: a\nany:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		b += fmt.Sprintf("  a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b
}

func indented(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
		if b.Len() > 11<<20 {
			break
		}
	}
	return b.String()
}

// What no scenario needs is refused without much work.
func TestLimits(t *testing.T) {
	var keys strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	long := strings.Repeat("long", 100_000)
	for _, tc := range []struct{ name, text, want string }{
		{"10 MB", "name: " + strings.Repeat("a", 10<<20), "want at most 1048576"},
		{"brackets", "name: " + strings.Repeat("[", 100_000), "nested too deeply"},
		{"braces", "name: " + strings.Repeat("{a: ", 100_000), "nested too deeply"},
		{"closed brackets", "name: " + strings.Repeat("[", 399) + strings.Repeat("]", 399), "nested too deeply"},
		{"indentation", indented(100_000), "want at most 1048576"},
		{"indentation that fits", indented(1_400), "nested too deeply"},
		{"dashes", "name:\n" + strings.Repeat("- ", 100_000), "f:"},
		{"question marks", strings.Repeat("? ", 100_000), "f:"},
		{"laughs", laughs(), "once aliases are followed"},
		{"a long text, many times", "name: a\nany:\n  a: &a " + long + "\n  b: [" + strings.Repeat("*a, ", 100_000) + "]", "once aliases are followed"},
		{"a million keys", keys.String(), "want at most 1048576"},
		{"keys that fit", keys.String()[:1<<19], "more problems"},
		{"values that fit", "list: [" + strings.Repeat("a,", 500_000) + "]", "once aliases are followed"},
		{"a long key before others", "name: a\nparts:\n  ? " + long + "\n  : {" + strings.Repeat("a: 1, ", 50_000) + "}", "a key of 400000 bytes"},
		{"a long number", "name: a\nn: " + strings.Repeat("9", 1<<19), "want a whole number"},
		{"a long fraction", "name: a\nx: 1" + strings.Repeat("0", 1<<19), "want a number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			used, err := work(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%.300v, want %s", err, tc.want)
			}
			if used > maxWork {
				t.Errorf("%d MB", used>>20)
			}
		})
	}
}

// maxWork is what may be allocated to refuse a text, in bytes.
const maxWork = 200 << 20

// work reads a text and counts the bytes that are allocated on the way, freed or
// not: they do not depend on what else the machine does, as time would.
func work(text string) (bytes uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = read(text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}
