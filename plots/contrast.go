package plots

import (
	"image/color"
	"math"
)

// contrast returns the contrast ratio of a colour on white, 1 to 21
// (WCAG 2.1, "contrast ratio" and "relative luminance").
func contrast(c color.RGBA) float64 {
	l := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	return 1.05 / (l + 0.05)
}

// linear undoes the transfer curve of sRGB.
func linear(v uint8) float64 {
	s := float64(v) / 255
	if s <= 0.04045 {
		return s / 12.92
	}
	return math.Pow((s+0.055)/1.055, 2.4)
}
