// Package plots draws the figures of the simulator in one house style.
//
// A Figure is a page: a finding as its title, what is shown as its subtitle, a
// key where direct labels cannot serve, a grid of panels, and a footnote that
// says where the numbers come from. A Panel has two axes and a list of marks:
//
//	fig := plots.Figure{
//		Title: "A count window detects faster the more traffic it sees",
//		Note:  "detection-delay · exact",
//		Panels: []plots.Panel{{
//			X: plots.Axis{Label: "request rate, 1/s", Kind: plots.Log},
//			Y: plots.Axis{Label: "detection delay, s", Never: "never"},
//			Marks: []plots.Mark{
//				plots.Line{Label: "count window", X: rate, Y: delay, Style: plots.CountWindow.Member(0)},
//			},
//		}},
//	}
//	err := fig.Write(w, "png")
//
// Everything is plain data: slices in, bytes out. The same figure gives the
// same bytes in every format, on any day; a figure may be written by several
// goroutines at once. What cannot be drawn is an error that names the panel,
// the mark and the value. NaN is a gap, +Inf is "never".
//
// All colours, sizes and gaps are in style.go. What a policy's colour is, is
// decided by its Family and by nothing else.
//
// The package stands on gonum's plot module: its lengths and paths, its canvas
// for images, its fonts. Axes, labels and layout are its own, because the
// figures need what gonum's Plot has no place for (a strip for "never", a 0
// on a logarithmic axis, names of rows, labels beside line ends), and because
// importing Plot costs every start of the program several milliseconds for
// fonts and formats that no figure uses.
package plots
