package callback

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClaimCache_ForgetsWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := claimKey{kind: "sandbox", id: "1"}
		var c claimCache
		c.keep(map[claimKey][]claim{key: {{secret: "s"}}}, time.Now(), c.now())
		require.Len(t, c.get([]claimKey{key}), 1)

		<-time.After(claimTTL)
		require.Empty(t, c.get([]claimKey{key}), "the first caller reads the claims again")
		require.Len(t, c.get([]claimKey{key}), 1, "the others need not wait for it")
		<-time.After(claimTTL)
		require.Empty(t, c.get([]claimKey{key}), "the first caller has not come back")
	})
}

func TestClaimCache_DropsWhatWasReadBeforeAChange(t *testing.T) {
	key := claimKey{kind: "sandbox", id: "1"}
	var c claimCache
	epoch := c.now()
	c.clear()
	c.keep(map[claimKey][]claim{key: {{secret: "s"}}}, time.Now(), epoch)
	require.Empty(t, c.get([]claimKey{key}))
}

func TestClaimCache_IsBounded(t *testing.T) {
	var c claimCache
	many := map[claimKey][]claim{}
	for i := range maxCachedClaims {
		many[claimKey{id: time.Duration(i).String()}] = nil
	}
	c.keep(many, time.Now(), c.now())
	c.keep(map[claimKey][]claim{{id: "another"}: nil}, time.Now(), c.now())
	require.Len(t, c.entries, 1)
}
