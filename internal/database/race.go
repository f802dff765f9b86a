package database

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	raceTries    = 20
	maxRacePause = 64 * time.Millisecond
)

// Again runs fn, and again while lost reports that it lost a race with another
// transaction, which then has been committed. It runs fn 20 times at most, the
// second time at once and then after pauses of random lengths, which part those who
// race; they take 400 ms in the mean, and end with ctx.
func Again(ctx context.Context, lost func(error) bool, fn func() error) error {
	pause := time.Millisecond
	for try := 1; ; try++ {
		err := fn()
		if err == nil || try == raceTries || !lost(err) || ctx.Err() != nil {
			return err
		}
		if try == 1 {
			continue
		}
		timer := time.NewTimer(rand.N(pause)) //nolint:gosec // a pause need not be unpredictable
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause = min(2*pause, maxRacePause)
	}
}
