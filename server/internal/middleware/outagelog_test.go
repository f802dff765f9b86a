package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

// TestOutageLog logs a thousand lines of an outage that lasts two minutes, and others.
func TestOutageLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(middleware.NewOutageLog(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
		lines := func() (lines []string) {
			synctest.Wait()
			lines = strings.Split(strings.TrimSpace(out.String()), "\n")
			out.Reset()
			return lines
		}
		away := fmt.Errorf("writing: %w", database.ErrUnwritable)
		for n := range 1000 {
			log.With("queue", "send").ErrorContext(context.Background(), "claiming failed", "error", away, "n", n)
		}
		log.Warn("storing failed", slog.Any("error", away))
		log.Error("claiming failed", "error", errors.New("a defect"))
		log.Error("claiming failed", "error", errors.New("a defect"))
		log.Info("claiming failed", "error", away)
		require.Equal(t, []string{
			`level=ERROR msg="claiming failed" queue=send error="writing: database: the store cannot be written" n=0`,
			`level=WARN msg="storing failed" error="writing: database: the store cannot be written"`,
			`level=ERROR msg="claiming failed" error="a defect"`,
			`level=ERROR msg="claiming failed" error="a defect"`,
			`level=INFO msg="claiming failed" error="writing: database: the store cannot be written"`,
		}, lines())
		<-time.After(time.Minute)
		require.Equal(t, []string{`level=ERROR msg="claiming failed" queue=send error="writing: database: the store cannot be written" n=999 lines=999`}, lines())
		log.Error("claiming failed", "error", away)
		require.Equal(t, []string{""}, lines(), "a minute has not passed")
		<-time.After(time.Minute)
		require.Equal(t, []string{`level=ERROR msg="claiming failed" error="writing: database: the store cannot be written" lines=1`}, lines())
		<-time.After(2 * time.Minute)
		log.Error("claiming failed", "error", away)
		require.Equal(t, []string{`level=ERROR msg="claiming failed" error="writing: database: the store cannot be written"`}, lines(), "another outage")
		<-time.After(2 * time.Minute)
		require.Equal(t, []string{""}, lines())
	})
}
