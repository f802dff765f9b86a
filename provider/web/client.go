package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/provider"
)

// clients makes whatsmeow's clients of a session and connects them.
type clients struct {
	p        *Provider
	conn     *connection
	store    *guarded
	receiver *receiver
}

// errProxy is shown to users. It does not repeat the address, which may contain
// a password.
var errProxy = errors.New("The setting proxyUrl must be an http, https or socks5 address.") //nolint:staticcheck // a sentence

// proxySchemes are the kinds of proxies that net/http supports.
var proxySchemes = []string{"http", "https", "socks5"}

// newClient returns a client of a device. The client does not reconnect by
// itself: [connectionLoop] does.
func (cl *clients) newClient(dev *store.Device) (*whatsmeow.Client, error) {
	var c *whatsmeow.Client
	c = whatsmeow.NewClient(dev, wire{cl.conn.ctx, cl.conn.log, "Client", func() { cl.receiver.waitForBacklog(c) }})
	c.EnableAutoReconnect = false
	c.DisableLoginAutoReconnect = true
	c.SynchronousAck = true
	c.EnableDecryptedEventBuffer = true
	c.UseRetryMessageStore = true
	c.AutomaticMessageRerequestFromPhone = true
	c.ManualHistorySyncDownload = true
	c.BackgroundEventCtx = cl.conn.ctx
	h, err := cl.p.httpClient(cl.conn.ref.Settings[settingProxy])
	if err != nil {
		return nil, err
	}
	c.SetPreLoginHTTPClient(h)
	c.SetWebsocketHTTPClient(h)
	c.SetMediaHTTPClient(h)
	c.AddEventHandlerWithSuccessStatus(func(e any) bool { return cl.receiver.handle(c, e) })
	return c, nil
}

// httpClient returns the client that reaches the network, through a proxy
// unless proxy is empty.
func (p *Provider) httpClient(proxy string) (*http.Client, error) {
	if proxy == "" {
		return p.opts.HTTPClient, nil
	}
	at, err := url.Parse(proxy)
	if err != nil || at.Host == "" || !slices.Contains(proxySchemes, at.Scheme) {
		return nil, errProxy
	}
	base, ok := p.opts.HTTPClient.Transport.(*http.Transport)
	if !ok {
		base = http.DefaultTransport.(*http.Transport)
	}
	return &http.Client{Transport: p.proxies.Through(at, base)}, nil
}

// checkProxy refuses a proxy whose host some resolvers read as a private address
// and others as a name. The address that is dialled is checked in any case.
func (p *Provider) checkProxy(proxy string) error {
	at, err := url.Parse(proxy)
	if proxy == "" || err != nil {
		return nil // newClient refuses what cannot be parsed
	}
	err = p.proxies.CheckURL("http://" + at.Host)
	if errors.Is(err, guard.ErrRefused) {
		return err
	}
	return nil
}

// account describes the account of a device; nil: the device is not paired.
func account(dev *store.Device) *provider.Account {
	if dev.ID == nil {
		return nil
	}
	return &provider.Account{ID: dev.ID.User, Name: dev.PushName, VerifiedBizName: dev.BusinessName}
}

// dial connects a client.
func (cl *clients) dial(ctx context.Context, c *whatsmeow.Client) error {
	if !cl.conn.leased() {
		return errLost
	}
	if err := cl.p.checkProxy(cl.conn.ref.Settings[settingProxy]); err != nil {
		return err
	}
	if err := c.ConnectContext(ctx); err != nil {
		return fmt.Errorf("web: connecting: %w", err)
	}
	return nil
}
