package web

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// wire is the logger of whatsmeow. It logs only the format of each message: the
// arguments contain phone numbers and parts of messages.
type wire struct {
	ctx  context.Context //nolint:containedctx // of the session: nothing is logged after its end
	log  *slog.Logger
	part string
	full func() // called when the queue of whatsmeow is full, which waits for it to return; nil: it is ignored
}

func (w wire) Warnf(form string, _ ...any) {
	w.say(slog.LevelWarn, form)
	if w.full != nil && strings.HasPrefix(form, queueFull) {
		w.full()
	}
}

func (w wire) Errorf(form string, _ ...any) { w.say(slog.LevelWarn, form) }
func (w wire) Infof(form string, _ ...any)  { w.say(slog.LevelDebug, form) }
func (w wire) Debugf(form string, _ ...any) {} // there are several for each frame

// Sub returns the logger of a part of whatsmeow.
func (w wire) Sub(part string) waLog.Logger { return wire{w.ctx, w.log, part, w.full} }

func (w wire) say(level slog.Level, form string) {
	if w.ctx.Err() != nil {
		return
	}
	w.log.Log(w.ctx, level, "whatsmeow", "part", w.part, "says", form)
}

// silent is a logger for libsignal, whose default prints to standard output.
type silent struct{}

func (silent) Debug(string, string)   {}
func (silent) Info(string, string)    {}
func (silent) Warning(string, string) {}
func (silent) Error(string, string)   {}
func (silent) Configure(string)       {}

var once sync.Once

// setGlobals sets the variables that whatsmeow and libsignal have once in a
// process.
func setGlobals(root *[32]byte) {
	once.Do(func() {
		if logger.Logger == nil {
			logger.Logger = silent{}
		}
		if root != nil && whatsmeow.WACertPubKey != *root {
			whatsmeow.WACertPubKey = *root
		}
	})
}
