package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/trunklinehq/trunkline/server/backup"
)

// progress shows the progress of a long operation: a bar on a terminal, otherwise a
// line for each tenth.
type progress struct {
	w        io.Writer
	terminal bool
	what     string
	tenth    int64 // the last tenth that was shown
	shown    time.Time
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), tenth: -1}
}

const (
	barWidth = 30
	redraw   = 100 * time.Millisecond
)

// step shows a step of a backup.
func (p *progress) step(s backup.Step) {
	if s.What != p.what {
		p.end()
		p.what, p.tenth, p.shown = s.What, -1, time.Time{}
	}
	share := 1.0
	if s.Total > 0 {
		share = float64(s.Done) / float64(s.Total)
	}
	if p.terminal {
		if now := time.Now(); now.Sub(p.shown) >= redraw || s.Done == s.Total {
			p.shown = now
			full := int(share * barWidth)
			_, _ = fmt.Fprintf(p.w, "\r\x1b[K%-6s [%s%s] %3.0f%%  %s", s.What, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), share*100, s.Name)
		}
		return
	}
	if tenth := int64(share * 10); tenth > p.tenth {
		p.tenth = tenth
		_, _ = fmt.Fprintf(p.w, "%s: %d of %d (%d%%)\n", s.What, s.Done, s.Total, int(share*100))
	}
}

// end ends the line of the bar.
func (p *progress) end() {
	if p.terminal && p.what != "" {
		_, _ = fmt.Fprintln(p.w)
	}
	p.what = ""
}
