package web

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"

	"github.com/trunklinehq/trunkline/provider"
)

// newClient returns whatsmeow's client of a device. It never reconnects by
// itself: run does, and knows why.
func (s *session) newClient(dev *store.Device) (*whatsmeow.Client, error) {
	c := whatsmeow.NewClient(dev, wire{s.log, "Client"})
	c.EnableAutoReconnect = false
	c.DisableLoginAutoReconnect = true
	c.SynchronousAck = true
	c.EnableDecryptedEventBuffer = true
	c.UseRetryMessageStore = true
	c.AutomaticMessageRerequestFromPhone = true
	c.ManualHistorySyncDownload = true
	c.BackgroundEventCtx = s.ctx
	if proxy := s.ref.Settings[settingProxy]; proxy != "" {
		if err := c.SetProxyAddress(proxy); err != nil {
			return nil, &provider.Invalid{Field: settingProxy, Message: "must be an http, https or socks5 address"}
		}
	} else {
		c.SetPreLoginHTTPClient(s.p.opts.HTTPClient)
		c.SetWebsocketHTTPClient(s.p.opts.HTTPClient)
		c.SetMediaHTTPClient(s.p.opts.HTTPClient)
	}
	c.AddEventHandlerWithSuccessStatus(func(e any) bool { return s.on(c, e) })
	return c, nil
}

// renew takes another client: whatsmeow does not use one again whose device
// was deleted. nil takes none.
func (s *session) renew(c *whatsmeow.Client) {
	s.setUp(false)
	s.mu.Lock()
	old := s.client
	s.client = c
	s.mu.Unlock()
	if old != nil && old != c {
		old.Disconnect()
	}
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
	if !s.held() {
		return errLost
	}
	if err := c.ConnectContext(ctx); err != nil {
		return fmt.Errorf("web: connecting: %w", err)
	}
	return nil
}
