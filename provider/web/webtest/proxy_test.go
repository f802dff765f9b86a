package webtest_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"
)

// A client reaches the fake through a proxy, by the network's own names.
func TestProxy(t *testing.T) {
	t.Parallel()
	fake := start(t)
	proxy := fake.StartProxy()
	t.Cleanup(proxy.Close)
	where, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	where.User = url.UserPassword("line", "secret")
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(fake.CA()))
	through := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(where), TLSClientConfig: &tls.Config{RootCAs: pool}}}

	c := newClient(t, fake, sessions(t).NewDevice())
	c.SetPreLoginHTTPClient(through)
	c.SetWebsocketHTTPClient(through)
	c.SetMediaHTTPClient(through)
	owner, ana := fake.AddPhone(nil), fake.AddPhone(nil)
	pair(t, c, owner)
	_, err = ana.SendText(within(t), owner.LID(), "through")
	require.NoError(t, err)
	await(c, says("through"))
	_, err = c.Upload(within(t), []byte("picture"), whatsmeow.MediaImage)
	require.NoError(t, err)
	requests := proxy.Requests()
	require.Equal(t, "web.whatsapp.com:443", requests[0].Host)
	require.Equal(t, "mmg.whatsapp.net:443", requests[len(requests)-1].Host)
	require.Equal(t, "Basic bGluZTpzZWNyZXQ=", requests[0].Auth)
	fake.DropAll()
	await[*events.Disconnected](c, nil)
}
