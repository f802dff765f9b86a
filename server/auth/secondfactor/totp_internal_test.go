package secondfactor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCodes compares with the table of RFC 6238, appendix B, of whose eight
// digits apps show the last six.
func TestCodes(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		step, ok := stepOf(secret, code, time.Unix(at, 0), 0)
		require.True(t, ok, at)
		require.Equal(t, at/30, step)
		for _, off := range []int64{60, 90} {
			_, ok = stepOf(secret, code, time.Unix(at+off, 0), 0)
			require.False(t, ok, "a code of another minute")
		}
		for _, off := range []int64{-30, 30} {
			_, ok = stepOf(secret, code, time.Unix(at+off, 0), 0)
			require.True(t, ok, "a clock that is off by half a minute")
		}
		_, ok = stepOf(secret, code, time.Unix(at, 0), step)
		require.False(t, ok, "it was used")
	}
}
