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

// errProxy is what the user reads: what is wrong in an address may be secret.
var errProxy = errors.New("The setting proxyUrl must be an http, https or socks5 address.") //nolint:staticcheck // a sentence

// proxySchemes are the kinds of proxies that net/http speaks to.
var proxySchemes = []string{"http", "https", "socks5"}

// newClient returns whatsmeow's client of a device. It never reconnects by
// itself: run does, and knows why.
func (s *session) newClient(dev *store.Device) (*whatsmeow.Client, error) {
	var c *whatsmeow.Client
	c = whatsmeow.NewClient(dev, wire{s.ctx, s.log, "Client", func() { s.flooded(c) }})
	c.EnableAutoReconnect = false
	c.DisableLoginAutoReconnect = true
	c.SynchronousAck = true
	c.EnableDecryptedEventBuffer = true
	c.UseRetryMessageStore = true
	c.AutomaticMessageRerequestFromPhone = true
	c.ManualHistorySyncDownload = true
	c.BackgroundEventCtx = s.ctx
	way, err := s.p.way(s.ref.Settings[settingProxy])
	if err != nil {
		return nil, err
	}
	c.SetPreLoginHTTPClient(way)
	c.SetWebsocketHTTPClient(way)
	c.SetMediaHTTPClient(way)
	c.AddEventHandlerWithSuccessStatus(func(e any) bool { return s.on(c, e) })
	return c, nil
}

// way is the client that reaches the network, through a proxy if there is one.
func (p *Provider) way(proxy string) (*http.Client, error) {
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

// mayDial refuses a proxy at what some resolvers take for a private address and
// others for a name. The address that is dialled is looked at in any case.
func (p *Provider) mayDial(proxy string) error {
	at, err := url.Parse(proxy)
	if proxy == "" || err != nil {
		return nil // newClient has refused it
	}
	err = p.proxies.CheckURL("http://" + at.Host)
	if errors.Is(err, guard.ErrRefused) {
		return err
	}
	return nil
}

// renew takes another client: whatsmeow does not use one again whose device
// was deleted. nil takes none.
func (s *session) renew(c *whatsmeow.Client) {
	s.mu.Lock()
	old := s.client
	s.client = c
	s.mu.Unlock()
	s.cut(old)
}

// pickUp returns the context of a new connection. It outlives the session's:
// whatsmeow's sockets are to be closed before it ends.
func (s *session) pickUp() context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangUp != nil {
		s.hangUp()
	}
	s.hangUp = cancel
	s.calls++
	return ctx
}

// cut ends a connection at once: nothing that it brought is acknowledged any
// more, on it or on the next one.
func (s *session) cut(c *whatsmeow.Client) {
	s.setUp(false)
	if c != nil {
		c.Disconnect()
	}
	s.disconnect()
}

// disconnect ends what a connection still does.
func (s *session) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangUp != nil {
		s.hangUp()
		s.hangUp = nil
	}
}

// standing is the number of the connection that there is, or is about to be; 0:
// there is none.
func (s *session) standing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangUp == nil {
		return 0
	}
	return s.calls
}

// breakOff ends a connection that carried what could not be stored: whatsmeow
// acknowledges some of it whatever a handler says, and what comes behind it
// would be stored before it.
func (s *session) breakOff(c *whatsmeow.Client) {
	s.cut(c)
	_ = s.signal(s.ctx, signal{c, stuck{}})
}

// device is the line's client, nil when it is not paired.
func (s *session) device() *whatsmeow.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// account is who the line speaks for.
func account(dev *store.Device) *provider.Account {
	if dev.ID == nil {
		return nil
	}
	return &provider.Account{ID: dev.ID.User, Name: dev.PushName, VerifiedBizName: dev.BusinessName}
}

// dial connects the line's client.
func (s *session) dial(ctx context.Context, c *whatsmeow.Client) error {
	if !s.leased() {
		return errLost
	}
	if err := s.p.mayDial(s.ref.Settings[settingProxy]); err != nil {
		return err
	}
	if err := c.ConnectContext(ctx); err != nil {
		return fmt.Errorf("web: connecting: %w", err)
	}
	return nil
}
