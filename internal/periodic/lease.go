package periodic

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// Leased calls do, and meanwhile renew three times within each lease. When renewing
// fails, the context of do ends. It returns the first error; a panic of do is one.
func Leased(ctx context.Context, lease time.Duration, renew, do func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-gctx.Done():
				return nil
			case <-tick.C:
				if err := renew(gctx); err != nil && gctx.Err() == nil {
					return err
				}
			}
		}
	})
	g.Go(func() (err error) {
		defer stop()
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		return do(gctx)
	})
	return g.Wait()
}
