package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// showAfter is how long a run lasts before its progress is shown.
const showAfter = 700 * time.Millisecond

// A progress draws a bar on a terminal, and nothing elsewhere.
type progress struct {
	name    string
	w       io.Writer // nil if nothing is to be drawn
	started time.Time
	bar     *progressbar.ProgressBar
}

func newProgress(w io.Writer, name string, quiet bool) *progress {
	p := &progress{name: name, started: time.Now()}
	if f, ok := w.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

// update shows that done of total jobs are measured.
func (p *progress) update(done, total int) {
	if p.w == nil || time.Since(p.started) < showAfter {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.name),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Set(done)
}

func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
