package testsignal_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// TestSignal_Wakes has many wait while others send: whoever took a channel before
// the last call of Send is awake in the end.
func TestSignal_Wakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s testsignal.Signal
		s.Send() // nobody waits
		for range 100 {
			go func() { <-s.Next() }()
			go s.Send()
		}
		synctest.Wait()
		s.Send()
		synctest.Wait()
		next := s.Next()
		require.Equal(t, next, s.Next(), "all wait for the same")
		select {
		case <-next:
			require.Fail(t, "nothing was sent since")
		default:
		}
		s.Send()
		<-next
	})
}
