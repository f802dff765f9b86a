package server_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/webhook"
)

func putHook(b *testing.B, s *server.Server, account string, ref provider.ReferenceID, url string) {
	_, _, err := s.Webhooks.For(account).Put(b.Context(), webhook.Settings{Scope: strconv.FormatInt(int64(ref), 10), URL: url})
	require.NoError(b, err)
}

// contextWithStop outlives the benchmark's own context, which ends before its
// clean-ups.
func contextWithStop(b *testing.B) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(b.Context()))
}
