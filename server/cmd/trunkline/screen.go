package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"rsc.io/qr"
)

// quiet is the number of light modules around a QR code. The standard requires
// four; two are enough for phones.
const quiet = 2

// screen shows QR codes. On a terminal each replaces the one before.
type screen struct {
	w        io.Writer
	terminal bool
	last     string // the code that is shown
	lines    int    // of the code
}

func newScreen(w io.Writer) *screen {
	s := &screen{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		s.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
}

// say prints a line below the code.
func (s *screen) say(line string) {
	if line == s.last {
		return
	}
	s.last, s.lines = line, 0
	_, _ = fmt.Fprintln(s.w, line)
}

// draw shows a QR code, unless it is shown already.
func (s *screen) draw(text string) error {
	if text == s.last {
		return nil
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return fmt.Errorf("drawing a QR code: %w", err)
	}
	var b strings.Builder
	if s.terminal && s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", s.lines) // up, and clear what is below
	}
	b.WriteString("On the phone: WhatsApp > Linked devices > Link a device, and scan this:\n")
	rows := s.blocks(&b, code)
	s.last, s.lines = text, rows+1
	_, _ = io.WriteString(s.w, b.String())
	return nil
}

// blocks draws a code with two rows of modules per line of text. It draws the light
// modules, for the dark background of most terminals. On a terminal it also sets
// the colours, so that those of the terminal do not matter.
func (s *screen) blocks(b *strings.Builder, code *qr.Code) (rows int) {
	before, after := "", "\n"
	if s.terminal {
		before, after = "\x1b[97;40m", "\x1b[0m\n" // white on black
	}
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString(before)
		for x := -quiet; x < code.Size+quiet; x++ {
			upper, lower := !code.Black(x, y), !code.Black(x, y+1) // outside of the code it is light
			switch {
			case upper && lower:
				b.WriteString("█")
			case upper:
				b.WriteString("▀")
			case lower:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		b.WriteString(after)
		rows++
	}
	return rows
}
