package plots

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// Wrapping keeps all words in order, and only a single word may be too wide.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9≥%]{1,12}`), 1, 30).Draw(t, "words"), " ")
		w := vg.Length(rapid.Float64Range(20, 900).Draw(t, "width"))
		style := textStyle{size: titleSize, bold: true}
		lines := style.wrap(s, w)
		if got := strings.Join(lines, " "); got != s {
			t.Fatalf("wrapped to %q, want the words of %q", got, s)
		}
		for _, line := range lines {
			if strings.Contains(line, " ") && style.width(line) > w {
				t.Fatalf("line %q is %v wide, want at most %v", line, style.width(line), w)
			}
		}
	})
}

func TestFitShrinksBeforeItOverflows(t *testing.T) {
	style := textStyle{size: titleSize, bold: true}
	long := strings.Repeat("a long finding ", 15)
	if s, lines := style.fit("short", 800, 2); s.size != titleSize || len(lines) != 1 {
		t.Errorf("short text in size %v on %d lines, want %v on 1", s.size, len(lines), titleSize)
	}
	s, lines := style.fit(strings.TrimSpace(long), 1000, 2)
	if s.size >= titleSize || len(lines) != 2 {
		t.Errorf("long text in size %v on %d lines, want a smaller size on 2", s.size, len(lines))
	}
	s, lines = style.fit(strings.Repeat(long, 4), 1000, 2)
	if s.size != 0.75*titleSize || len(lines) <= 2 {
		t.Errorf("very long text in size %v on %d lines, want the smallest on more than 2", s.size, len(lines))
	}
}

func TestWrapKeepsNewlines(t *testing.T) {
	if got := (textStyle{size: noteSize}).wrap("a\nb c", 1000); len(got) != 2 || got[1] != "b c" {
		t.Errorf("wrapped to %q, want two lines", got)
	}
}

// Numbers below each other line up: all digits are equally wide, also in pairs.
func TestDigitsAreTabular(t *testing.T) {
	style := textStyle{size: tickSize}
	want := style.width("00.00")
	for _, s := range []string{"11.11", "17.71", "98.74"} {
		if got := style.width(s); !near(got, want) {
			t.Errorf("%s is %v wide, want %v", s, got, want)
		}
	}
	if a, b := style.width("AV"), style.width("A")+style.width("V"); a >= b {
		t.Errorf("AV is %v wide, A and V %v: want kerned", a, b)
	}
}

// Every sign that figures use has a glyph.
func TestFontHasTheSigns(t *testing.T) {
	missing := textStyle{size: 100}.width("\U0010FFFF")
	f := textStyle{size: 100}.face()
	for _, r := range "·−–—≥≤±×÷≈∞→µσλρ…½²“”’é" {
		if g, err := f.Face.GlyphIndex(nil, r); err != nil || g == 0 {
			t.Errorf("%c has no glyph (width %v): %v", r, missing, err)
		}
	}
}
