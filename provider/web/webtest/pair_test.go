package webtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// A client pairs by QR, logs in, and resumes its session from the store
// without another.
func TestPairByQR(t *testing.T) {
	t.Parallel()
	fake := webtest.Start(&webtest.Options{ManyPreKeys: true})
	t.Cleanup(fake.Close)
	owner := fake.AddPhone(nil)
	store := sessions(t)
	c := newClient(t, fake, store.NewDevice())
	device := pair(t, c, owner)
	require.Equal(t, device.JID(), *c.Store.ID)
	require.Equal(t, device.LID(), c.Store.LID)
	require.GreaterOrEqual(t, device.PreKeys(), 800)
	require.Equal(t, []*webtest.Device{device}, owner.Devices())

	c.Disconnect()
	require.NoError(t, device.AwaitGone(within(t)))
	devices, err := store.GetAllDevices(t.Context())
	require.NoError(t, err)
	require.Len(t, devices, 1)
	again := newClient(t, fake, devices[0])
	require.NoError(t, again.Connect())
	await[*events.Connected](again, nil)
	logins := device.Logins()
	require.Len(t, logins, 2)
	require.False(t, logins[0].Until.IsZero())
	require.True(t, logins[1].Until.IsZero())
}

func TestPairByCode(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner := fake.AddPhone(nil)
	c := newClient(t, fake, sessions(t).NewDevice())
	require.NoError(t, c.Connect())
	await[*events.QR](c, nil)
	code, err := c.PairPhone(t.Context(), owner.JID().User, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	require.NoError(t, err)
	device, err := owner.EnterCode(within(t), code)
	require.NoError(t, err)
	await[*events.PairSuccess](c, nil)
	await[*events.Connected](c, nil)
	require.Equal(t, device.JID(), *c.Store.ID)
}

func TestPairByWrongCode(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner, other := fake.AddPhone(nil), fake.AddPhone(nil)
	c := newClient(t, fake, sessions(t).NewDevice())
	require.NoError(t, c.Connect())
	await[*events.QR](c, nil)
	_, err := c.PairPhone(t.Context(), owner.JID().User, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	require.NoError(t, err)
	_, err = owner.EnterCode(within(t), "ABCD-1234")
	require.ErrorContains(t, err, "the code is wrong")
	_, err = other.EnterCode(within(t), "ABCD-1234")
	require.ErrorContains(t, err, "no client shows a code")
}

func TestPairNeedsPasskey(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner := fake.AddPhone(&webtest.PhoneOptions{Passkey: true})
	c := newClient(t, fake, sessions(t).NewDevice())
	require.NoError(t, c.Connect())
	qr := await[*events.QR](c, nil)
	_, err := owner.Scan(within(t), qr.Codes[0])
	require.ErrorIs(t, err, webtest.ErrPasskey)
	request := await[*events.PairPasskeyRequest](c, nil)
	require.Equal(t, "whatsapp.com", request.PublicKey.RelyingPartID)
	require.Empty(t, owner.Devices())
}

func TestScanRefuses(t *testing.T) {
	t.Parallel()
	fake := start(t)
	owner := fake.AddPhone(nil)
	for qr, says := range map[string]string{
		"":          "needs at least 4",
		"a,b,c,d,e": "part 2 of the QR code is not a key",
		"2@x,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,1": "no client shows this QR code",
	} {
		_, err := owner.Scan(t.Context(), qr)
		require.ErrorContains(t, err, says)
	}
}

func TestAddPhonePanics(t *testing.T) {
	t.Parallel()
	fake := start(t)
	fake.AddPhone(&webtest.PhoneOptions{Number: "4915100000001"})
	for _, number := range []string{"4915100000001", "+4915100000002", "12345", "0915100000002"} {
		require.Panics(t, func() { fake.AddPhone(&webtest.PhoneOptions{Number: number}) }, number)
	}
}
