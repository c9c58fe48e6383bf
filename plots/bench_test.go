package plots

import (
	"io"
	"testing"
)

// BenchmarkWrite draws each demonstration in each format.
func BenchmarkWrite(b *testing.B) {
	for _, name := range names() {
		f := demos[name]()
		for _, format := range Formats() {
			b.Run(name+"/"+format, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f.Write(io.Discard, format); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
