package connection

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

func TestRemoteError_KeepsErrorsOfNetworks(t *testing.T) {
	for _, err := range []error{
		&provider.RateLimited{Code: "1", Message: "slow down", Advice: "wait", After: time.Minute},
		&provider.WindowClosed{Code: "2", Message: "too late"},
		&provider.BadRecipient{Code: "3", Message: "unknown"},
		&provider.AuthExpired{Code: "4", Message: "expired"},
		&provider.Unsupported{What: "managing groups"},
		&provider.Invalid{Field: "subject", Message: "is too long"},
		&provider.Rejected{Code: "5", Message: "no"},
	} {
		require.Equal(t, err, forwarded(t, err))
	}
	require.NoError(t, forwarded(t, nil))
}

func TestRemoteError_IsUncertainWhenUnknown(t *testing.T) {
	var uncertain *provider.Ambiguous
	require.ErrorAs(t, forwarded(t, errors.New("broken pipe")), &uncertain)

	var temporary *provider.Temporary
	require.ErrorAs(t, forwarded(t, &provider.Temporary{Err: errors.New("busy"), After: time.Second}), &temporary)
	require.Equal(t, time.Second, temporary.After)
}

func TestRemoteCall_RepeatsWhatChangesNothing(t *testing.T) {
	require.True(t, remoteCall{Call: callNumber}.isRepeatable())
	require.True(t, remoteCall{Call: callInvite}.isRepeatable())
	require.True(t, remoteCall{Call: callReject}.isRepeatable())
	require.False(t, remoteCall{Call: callInvite, Reset: true}.isRepeatable())
	require.False(t, remoteCall{Call: callLeave}.isRepeatable())
}

// forwarded is err after its way from another node.
func forwarded(t *testing.T, err error) error {
	t.Helper()
	text, failed := json.Marshal(remoteAnswer{Error: encodeRemoteError(err)})
	require.NoError(t, failed)
	var a remoteAnswer
	require.NoError(t, json.Unmarshal(text, &a))
	return a.Error.restore()
}
