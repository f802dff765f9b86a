//go:build !noweb

package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
)

// Settings for tests, which have no flags: the address of a fake WhatsApp Web, its
// certificate (PEM) and the key that signs its Noise certificates (hexadecimal).
// See package webtest. The clock of references may run faster, so that codes expire
// during a test.
const (
	testAddr    = "TRUNKLINE_WEB_TEST_ADDR"
	testCA      = "TRUNKLINE_WEB_TEST_CA"
	testRootKey = "TRUNKLINE_WEB_TEST_ROOT_KEY"
	testSpeed   = "TRUNKLINE_WEB_TEST_SPEED"
)

// licence is that of the program. The notice in libsignal's LICENSE permits version 3 of
// the GPL, or any later version.
const licence = "GPL-3.0-or-later, since it links go.mau.fi/libsignal"

// testVariables are the names of these.
var testVariables = []string{testAddr, testCA, testRootKey, testSpeed}

// migrate creates or upgrades the tables of the server and of WhatsApp Web.
func migrate(ctx context.Context, db *sqlx.DB) error {
	if err := server.Migrate(ctx, db); err != nil {
		return err
	}
	return web.Migrate(ctx, db)
}

// providers returns WhatsApp Web, which stores its keys in the database. It links
// whatsmeow (MPL-2.0) and libsignal (GPL-3.0): a program that is built with the tag
// noweb does not contain them.
func providers(ctx context.Context, db *sqlx.DB, set settings, own net.Addr, log *slog.Logger) ([]provider.Provider, error) {
	opts, err := testNetwork(ctx, own, log)
	if err != nil {
		return nil, err
	}
	opts.Allow, opts.Logger = set.Server.WebhookAllow, log
	whatsapp, err := web.New(ctx, db, &opts)
	if err != nil {
		return nil, err
	}
	return []provider.Provider{whatsapp}, nil
}

// testNetwork returns options with which WhatsApp Web references connect to a fake
// network in the environment. A server that trusts it must not be reachable from
// other machines: own is the server's address.
func testNetwork(ctx context.Context, own net.Addr, log *slog.Logger) (web.Options, error) {
	addr, ca, key := os.Getenv(testAddr), os.Getenv(testCA), os.Getenv(testRootKey)
	if addr == "" && ca == "" && key == "" {
		return web.Options{}, nil
	}
	at, err := net.ResolveTCPAddr("tcp", addr)
	if addr == "" || err != nil {
		return web.Options{}, &settingError{testAddr, "must be HOST:PORT"}
	}
	if !isLoopback(at) || !isLoopback(own) {
		return web.Options{}, &settingError{testAddr, "is for tests: it and --addr must be loopback addresses"}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(ca)) {
		return web.Options{}, &settingError{testCA, "must be a certificate as PEM"}
	}
	root, err := hex.DecodeString(key)
	if err != nil || len(root) != 32 {
		return web.Options{}, &settingError{testRootKey, "must be 32 bytes in hexadecimal"}
	}
	speed, err := strconv.Atoi(cmp.Or(os.Getenv(testSpeed), "1"))
	if err != nil || speed < 1 || speed > 1000 {
		return web.Options{}, &settingError{testSpeed, "must be a whole number from 1 to 1000"}
	}
	log.WarnContext(ctx, "WhatsApp Web references connect to a fake network for tests", slog.String("addr", at.String()))
	var dialer net.Dialer
	return web.Options{
		Now:     hurried(speed),
		RootKey: (*[32]byte)(root), Rates: web.Rates{Messages: -1, Outreach: -1},
		HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, at.String())
			},
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		}},
	}, nil
}

// hurried returns a clock that runs speed times faster; nil: the usual one.
func hurried(speed int) func() time.Time {
	if speed == 1 {
		return nil
	}
	begin := time.Now()
	return func() time.Time { return begin.Add(time.Since(begin) * time.Duration(speed)) }
}

// whatsapp checks whether references of WhatsApp Web can connect.
func (d *doctor) whatsapp(ctx context.Context, lines []messaging.ReferenceState) {
	if !slices.ContainsFunc(lines, func(l messaging.ReferenceState) bool { return l.Kind == web.Kind }) {
		return
	}
	addr, err := net.ResolveTCPAddr("tcp", d.set.Addr)
	if err != nil {
		return // port has checked it
	}
	opts, err := testNetwork(ctx, addr, slog.New(slog.DiscardHandler))
	if err != nil {
		d.bad("settings", oneLine(err.Error()), "unset it: it is for tests")
		return
	}
	client := opts.HTTPClient
	client = cmp.Or(client, http.DefaultClient)
	d.network(ctx, client, "https://web.whatsapp.com")
}
