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

// wire is the logger of whatsmeow. Of what that says only the form is kept:
// the words that it fills in are numbers of people and parts of messages.
type wire struct {
	ctx  context.Context //nolint:containedctx // of the session: what it says about the end of one is no news
	log  *slog.Logger
	part string
	full func() // called, and waited for, when whatsmeow has lost count of what comes after what; nil: nothing is
}

func (w wire) Warnf(form string, _ ...any) {
	w.say(slog.LevelWarn, form)
	if w.full != nil && strings.HasPrefix(form, queueFull) {
		w.full()
	}
}

func (w wire) Errorf(form string, _ ...any) { w.say(slog.LevelWarn, form) }
func (w wire) Infof(form string, _ ...any)  { w.say(slog.LevelDebug, form) }
func (w wire) Debugf(form string, _ ...any) {} // a few for each frame

// Sub names a part of whatsmeow.
func (w wire) Sub(part string) waLog.Logger { return wire{w.ctx, w.log, part, w.full} }

func (w wire) say(level slog.Level, form string) {
	if w.ctx.Err() != nil {
		return
	}
	w.log.Log(w.ctx, level, "whatsmeow", "part", w.part, "says", form)
}

// silent is a logger for libsignal, which else prints.
type silent struct{}

func (silent) Debug(string, string)   {}
func (silent) Info(string, string)    {}
func (silent) Warning(string, string) {}
func (silent) Error(string, string)   {}
func (silent) Configure(string)       {}

var once sync.Once

// quiet sets what whatsmeow and libsignal have one of in a process.
func quiet(root *[32]byte) {
	once.Do(func() {
		if logger.Logger == nil {
			logger.Logger = silent{}
		}
		if root != nil && whatsmeow.WACertPubKey != *root {
			whatsmeow.WACertPubKey = *root
		}
	})
}
