package plots

import (
	"fmt"
	"image/color"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// A textStyle is a size, a weight and a colour of Liberation Sans.
type textStyle struct {
	size  vg.Length
	bold  bool
	color color.Color
}

// Where a text stands relative to its point.
const (
	left   = 0.0
	center = 0.5
	right  = 1.0
)

// capHeight is the height of a capital over the font size, in Liberation Sans.
const capHeight = 0.716

// The two fonts are parsed when first used, once per process.
var (
	sansRegular = sync.OnceValue(func() *opentype.Font { return mustParse(liberationsansregular.TTF) })
	sansBold    = sync.OnceValue(func() *opentype.Font { return mustParse(liberationsansbold.TTF) })
)

// mustParse parses a font that is part of the program.
func mustParse(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("plots: embedded font of %d bytes: %v", len(ttf), err))
	}
	return f
}

// face returns the font of the style for gonum's canvases.
func (t textStyle) face() font.Face {
	f := font.Face{
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: t.size},
		Face: sansRegular(),
	}
	if t.bold {
		f.Font.Weight, f.Face = stdfont.WeightBold, sansBold()
	}
	return f
}

// width returns the width of the longest line of s.
func (t textStyle) width(s string) vg.Length {
	f := t.face()
	var w vg.Length
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, measure(f, line))
	}
	return w
}

// line returns the distance between two baselines.
func (t textStyle) line() vg.Length { return leading * t.size }

// capital returns the height of a capital letter.
func (t textStyle) capital() vg.Length { return capHeight * t.size }

// wrap breaks s into lines no wider than w where words allow it. Newlines in
// s are kept.
func (t textStyle) wrap(s string, w vg.Length) []string {
	if s == "" {
		return nil
	}
	f := t.face()
	var lines []string
	for para := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.SplitSeq(para, " ") {
			longer := line + " " + word
			if line == "" {
				longer = word
			}
			if line != "" && measure(f, longer) > w {
				lines = append(lines, line)
				longer = word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return lines
}

// fit wraps s to at most n lines of width w, in the largest size down to three
// quarters of the style's own that allows it; at that size it takes as many
// lines as it needs.
func (t textStyle) fit(s string, w vg.Length, n int) (textStyle, []string) {
	smallest := 0.75 * t.size
	for {
		lines := t.wrap(s, w)
		if len(lines) <= n || t.size <= smallest {
			return t, lines
		}
		t.size = max(t.size-px, smallest)
	}
}
