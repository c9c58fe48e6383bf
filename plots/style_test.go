package plots

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// The meaning of a colour never changes: articles that are out there rely on it.
func TestPalette(t *testing.T) {
	for f, want := range map[Family]string{
		NoRetry: "000000", FixedRetry: "E69F00", Unlimited: "D55E00", Budget: "0072B2", CountWindow: "009E73",
		TimeWindow: "CC79A7", BudgetBreaker: "56B4E9", BucketWindow: "661100", Neutral: "6B6B6B", Family(99): "6B6B6B",
	} {
		c := f.Color()
		if got := fmt.Sprintf("%02X%02X%02X", c.R, c.G, c.B); got != want || c.A != 0xFF {
			t.Errorf("family %d is %s with opacity %d, want %s", f, got, c.A, want)
		}
	}
}

// seen are matrices on linear RGB: normal vision, protanopia and deuteranopia
// (Machado, Oliveira and Fernandes 2009, severity 1).
var seen = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// oklab returns the colour as somebody sees it, in a space where distances are
// about as they are perceived (Ottosson 2020).
func oklab(c color.RGBA, m [3][3]float64) [3]float64 {
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	mul := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i := range m {
			for j := range v {
				out[i] += m[i][j] * v[j]
			}
		}
		return out
	}
	v := mul(m, in)
	for i := range v {
		v[i] = min(max(v[i], 0), 1)
	}
	v = mul([3][3]float64{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}}, v)
	for i := range v {
		v[i] = math.Cbrt(v[i])
	}
	return mul([3][3]float64{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}}, v)
}

func TestFamiliesAreDistinguishable(t *testing.T) {
	for vision, m := range seen {
		for a := range Neutral {
			for b := range a {
				p, q := oklab(a.Color(), m), oklab(b.Color(), m)
				d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
				want := 0.07
				if a == BucketWindow || b == BucketWindow {
					want = 0.2 // ours: chosen to be far from all of Okabe and Ito's
				}
				if d < want {
					t.Errorf("%s: families %d and %d are %.3f apart, want at least %v", vision, a, b, d, want)
				}
			}
		}
	}
}

func TestMembersDiffer(t *testing.T) {
	look := map[string]bool{}
	for i := range len(memberDashes) {
		s := Budget.Member(i)
		if s.Color != Budget.Color() {
			t.Errorf("member %d has colour %v, want the family's", i, s.Color)
		}
		if s.Glyph == Diamond {
			t.Errorf("member %d has a diamond, which marks published values", i)
		}
		look[fmt.Sprint(s.Dashes)] = true
		look[fmt.Sprint("glyph", s.Glyph)] = true
	}
	if len(look) != 2*len(memberDashes) {
		t.Errorf("%d different dashes and glyphs, want %d", len(look), 2*len(memberDashes))
	}
	for _, i := range []int{6, 12, -6} {
		if fmt.Sprint(Budget.Member(i)) != fmt.Sprint(Budget.Member(0)) {
			t.Errorf("member %d differs from member 0", i)
		}
	}
}

func TestTextInkIsReadable(t *testing.T) {
	for f := range Neutral + 1 {
		if got := contrast(textInk(f.Color())); got < 4.5 {
			t.Errorf("text of family %d has contrast %.2f, want at least 4.5", f, got)
		}
	}
	if got := textInk(Budget.Color()); got != Budget.Color() {
		t.Errorf("blue became %v; it was readable", got)
	}
	if got := contrast(white); math.Abs(got-1) > 1e-9 {
		t.Errorf("contrast of white %v, want 1", got)
	}
	if got := contrast(rgb(0)); math.Abs(got-21) > 1e-9 {
		t.Errorf("contrast of black %v, want 21", got)
	}
}
