package plots

import (
	"image"
	"image/color"
	"image/draw"
	"io"

	"git.sr.ht/~sbinet/gg"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// dpi is the resolution that makes a px one pixel.
const dpi = 96

// A raster is gonum's image canvas with its own text. The canvas would open a
// font for every string and resample every glyph.
type raster struct {
	*vgimg.Canvas
	img   *image.RGBA
	faces map[font.Font]stdfont.Face
	color *image.Uniform
}

func newRaster(p *page) *raster {
	img := image.NewRGBA(image.Rect(0, 0, int(p.w/px+0.5), int(p.h/px+0.5)))
	ctx := gg.NewContextForRGBA(img) // the canvas on its own would copy the image
	ctx.SetLineCapButt()
	ctx.InvertY()
	return &raster{
		Canvas: vgimg.NewWith(vgimg.UseImageWithContext(img, ctx), vgimg.UseDPI(dpi)),
		img:    img,
		faces:  map[font.Font]stdfont.Face{},
	}
}

// SetColor sets the colour of everything drawn from now on.
func (r *raster) SetColor(c color.Color) {
	r.Canvas.SetColor(c)
	r.color = image.NewUniform(c)
}

// FillString draws text with its baseline starting at a point.
func (r *raster) FillString(f font.Face, at vg.Point, s string) {
	face, ok := r.faces[f.Font]
	if !ok {
		face = f.FontFace(dpi)
		r.faces[f.Font] = face
	}
	fix := func(v vg.Length) fixed.Int26_6 { return fixed.Int26_6(v/px*64 + 0.5) }
	dot := fixed.Point26_6{
		X: fix(at.X),
		Y: fix(vg.Length(r.img.Rect.Max.Y)*px - at.Y),
	}
	var last rune
	for i, c := range s {
		if i > 0 && kerned(last, c) {
			dot.X += face.Kern(last, c)
		}
		box, mask, offset, advance, ok := face.Glyph(dot, c)
		if ok {
			draw.DrawMask(r.img, box, r.color, image.Point{}, mask, offset, draw.Over)
		}
		dot.X += advance
		last = c
	}
}

// writePNG draws the page as a PNG.
func writePNG(w io.Writer, p *page) error {
	r := newRaster(p)
	p.paint(r) // the canvas is white already
	return encode(w, r.img)
}
