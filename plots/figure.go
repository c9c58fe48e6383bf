package plots

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// A Figure is a page with a finding, the panels that show it and a footnote
// that says where the numbers come from.
type Figure struct {
	Title    string // the finding, a sentence; wraps
	Subtitle string // what is shown, muted
	Note     string // experiment, seed, replications, hours, …; muted, at the foot
	Key      []KeyItem

	// Width and Height are in pixels. A width of 0 is 1200. A height of 0 is
	// 700, or, for category axes, what their rows need.
	Width, Height int

	Panels  []Panel // row by row
	Columns int     // of the grid of panels; 0 counts as 1
	// ShareX and ShareY give all panels one range on that axis, and labels only
	// on the outer panels.
	ShareX, ShareY bool
}

// largestSide is the greatest width and height of a figure, in pixels.
const largestSide = 10_000

// Formats returns the formats that Write knows.
func Formats() []string { return []string{"png", "svg", "pdf"} }

// Write draws the figure to w in one of the Formats. The same figure gives the
// same bytes. It reports an unknown format, data that cannot be drawn (none,
// all of it undefined, columns of unequal length, values that do not fit the
// axis) and the errors of w.
func (f *Figure) Write(w io.Writer, format string) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("plots: format %q, want %s", format, strings.Join(Formats(), ", "))
	}
	p, err := f.layout()
	if err != nil {
		return fmt.Errorf("plots: %w", err)
	}
	switch format {
	case "svg":
		err = writeSVG(w, p)
	case "pdf":
		err = writePDF(w, p)
	default:
		err = writePNG(w, p)
	}
	if err != nil {
		return fmt.Errorf("plots: write %s: %w", format, err)
	}
	return nil
}

// A page is a figure whose parts all have their places.
type page struct {
	title    string
	w, h     vg.Length
	header   []textLine
	keyTop   vg.Length
	keys     [][]KeyItem
	footer   []textLine
	cells    []*cell
	bodyTop  vg.Length
	bodyFoot vg.Length
}

// A textLine is a line of text on the page.
type textLine struct {
	style textStyle
	y     vg.Length // baseline
	text  string
}

// layout decides where everything is.
func (f *Figure) layout() (*page, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	cells, err := f.cells()
	if err != nil {
		return nil, err
	}
	w, h := vg.Length(f.Width)*px, vg.Length(f.Height)*px
	if f.Width == 0 {
		w = defaultWidth * px
	}
	p := &page{title: f.Title, w: w, cells: cells}
	top, foot := p.headings(f)
	if f.Height == 0 {
		if h, err = f.autoHeight(p, top+foot); err != nil {
			return nil, err
		}
	}
	p.h = h
	p.rise(h)
	p.bodyTop, p.bodyFoot = h-top, foot
	return p, f.arrange(p)
}

// check reports impossible settings.
func (f *Figure) check() error {
	switch {
	case len(f.Panels) == 0:
		return errors.New("no panels, want at least 1")
	case f.Columns < 0:
		return fmt.Errorf("columns %d, want at least 0", f.Columns)
	case f.Width != 0 && (f.Width < 200 || f.Width > largestSide):
		return fmt.Errorf("width %d px, want 0 or 200 to %d", f.Width, largestSide)
	case f.Height != 0 && (f.Height < 150 || f.Height > largestSide):
		return fmt.Errorf("height %d px, want 0 or 150 to %d", f.Height, largestSide)
	}
	return nil
}

// headings wraps title, subtitle, key and note and returns the heights of
// header and footer. Heights are below the top of the page until rise.
func (p *page) headings(f *Figure) (top, foot vg.Length) {
	room := p.w - 2*pageMargin
	y := -pageMargin * 0.9
	title, lines := textStyle{size: titleSize, bold: true, color: ink}.fit(f.Title, room, 2)
	for _, s := range lines {
		y -= title.line()
		p.header = append(p.header, textLine{title, y + 0.28*title.size, s})
	}
	sub, lines := textStyle{size: subtitleSize, color: mutedInk}.fit(f.Subtitle, room, 2)
	if len(lines) > 0 {
		y -= headerGap * 0.6
	}
	for _, s := range lines {
		y -= sub.line()
		p.header = append(p.header, textLine{sub, y + 0.28*sub.size, s})
	}
	p.keys = keyRows(f.Key, room)
	if len(p.keys) > 0 {
		y -= headerGap * 1.4
		p.keyTop = y
		y -= vg.Length(len(p.keys)) * keyLine
	}
	note, lines := textStyle{size: noteSize, color: mutedInk}.fit(f.Note, room, 3)
	foot = pageMargin * 0.8
	for i, s := range lines {
		p.footer = append(p.footer, textLine{note, foot + vg.Length(len(lines)-1-i)*note.line() + 0.1*note.size, s})
	}
	if len(lines) > 0 {
		foot += vg.Length(len(lines))*note.line() + bodyGap*0.6
	}
	return bodyGap*0.7 - y, foot
}

// keyLine is the height of a row of the key.
const keyLine = 26 * px

// rise moves the header to the top of a page of height h.
func (p *page) rise(h vg.Length) {
	for i := range p.header {
		p.header[i].y += h
	}
	p.keyTop += h
}

// paint draws the page on white paper.
func (p *page) paint(s surface) {
	d := pen{s}
	for _, c := range p.cells {
		c.paint(d)
	}
	for _, t := range slices.Concat(p.header, p.footer) {
		d.text(t.style, vg.Point{X: pageMargin, Y: t.y}, left, t.text)
	}
	for i, row := range p.keys {
		at := vg.Point{X: pageMargin, Y: p.keyTop - (vg.Length(i)+0.5)*keyLine}
		for _, k := range row {
			k.draw(d, at)
			at.X += k.width() + columnGap
		}
	}
}
