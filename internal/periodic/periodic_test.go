package periodic_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/periodic"
)

func TestRun_RepeatsAfterErrorsAndChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var log bytes.Buffer
		var at []time.Duration
		start, changed := time.Now(), make(chan struct{})
		go func() {
			<-time.After(90 * time.Second)
			changed <- struct{}{}
		}()
		err := periodic.Run(ctx, time.Minute, changed, slog.New(slog.NewTextHandler(&log, nil)), "tidying failed", func(context.Context) error {
			if at = append(at, time.Since(start)); len(at) == 4 {
				stop()
			}
			return errors.New("the table is locked")
		})
		require.NoError(t, err)
		require.Equal(t, []time.Duration{0, time.Minute, 90 * time.Second, 2 * time.Minute}, at)
		require.Equal(t, 3, bytes.Count(log.Bytes(), []byte(`level=WARN msg="tidying failed" error="the table is locked"`)), "an error after the end is not logged")
	})
}
