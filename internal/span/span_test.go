package span_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/span"
)

func TestParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	require.Empty(t, span.Of(ctx))
	require.Equal(t, ctx, span.With(ctx, ""), "nothing to take away")
	below := span.With(ctx, "00-a")
	require.Equal(t, "00-a", span.Of(below))
	require.Equal(t, below, span.With(below, "00-a"))
	require.Empty(t, span.Of(span.With(below, "")))
}

func TestBegin(t *testing.T) {
	t.Parallel()
	var ended []string
	hook := func(ctx context.Context, parent, name string) (context.Context, string, func(bool, ...slog.Attr)) {
		return ctx, parent + "/" + name, func(failed bool, attrs ...slog.Attr) {
			line := parent + "/" + name
			for _, a := range attrs {
				line += " " + a.String()
			}
			if failed {
				line += " failed"
			}
			ended = append(ended, line)
		}
	}
	ctx, outer := span.Begin(t.Context(), hook, "outer")
	below, inner := span.Begin(ctx, hook, "inner")
	require.Equal(t, "/outer/inner", span.Of(below))
	inner.Set(slog.Int("attempt", 2))
	inner.End(true)
	inner.End(false)
	outer.End(false)
	require.Equal(t, []string{"/outer/inner attempt=2 failed", "/outer"}, ended)
}

func TestFit(t *testing.T) {
	t.Parallel()
	const whole = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	require.Equal(t, whole, span.Fit(whole))
	for _, bad := range []string{"a\x00", "a\r\nb: c", "a b", "\xff", "é", strings.Repeat("0", 129)} {
		require.Empty(t, span.Fit(bad), "%q", bad)
		require.Empty(t, span.Of(span.With(t.Context(), bad)), "%q", bad)
	}
}

// TestBadHook: what is traced continues without its trace.
func TestBadHook(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	below, s := span.Begin(ctx, func(context.Context, string, string) (context.Context, string, func(bool, ...slog.Attr)) { panic("no") }, "a")
	require.Equal(t, ctx, below)
	require.Nil(t, s)
	s.End(false)
	below, s = span.Begin(ctx, func(context.Context, string, string) (context.Context, string, func(bool, ...slog.Attr)) {
		return nil, "", func(bool, ...slog.Attr) { panic("no") }
	}, "a")
	require.Equal(t, ctx, below)
	s.End(false)
	s.End(false)
}

// What is not traced costs nothing.
func TestOff(t *testing.T) {
	ctx := t.Context()
	require.Zero(t, int(testing.AllocsPerRun(100, func() {
		ctx, s := span.Begin(ctx, nil, "messaging.send")
		s.Set(slog.String("kind", "sandbox"))
		s.Set(slog.Int64("reference", 7))
		s.End(false)
		_ = span.With(ctx, "")
	})))
}
