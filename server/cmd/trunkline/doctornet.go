package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	askTimeout = 5 * time.Second
	soonOver   = 14 * 24 * time.Hour // a certificate
)

func (d *doctor) certificate() {
	if d.set.TLSCert == "" {
		return
	}
	const check = "tls"
	pair, err := tls.LoadX509KeyPair(d.set.TLSCert, d.set.TLSKey)
	if err != nil {
		d.bad(check, "the certificate cannot be used: "+cause(err), "correct --tls-cert and --tls-key")
		return
	}
	left := time.Until(pair.Leaf.NotAfter)
	text := "the certificate holds until " + pair.Leaf.NotAfter.Format(time.DateOnly)
	switch {
	case left <= 0:
		d.bad(check, text, "renew it: it is read again when the file changes")
	case left < soonOver:
		d.warn(check, text, "renew it: it is read again when the file changes")
	default:
		d.ok(check, "%s", text)
	}
}

// address looks at the port, and at the way that others come by.
func (d *doctor) address(ctx context.Context) {
	running := d.port(ctx)
	base := addressOf(d.set)
	u, err := url.Parse(base)
	if err != nil {
		return // it was checked
	}
	const check = "address"
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if local {
		d.warn(check, base+" reaches nobody but this machine", "give the address that others use as --base-url: callbacks and links need it")
		return
	}
	if u.Scheme != "https" {
		d.warn(check, base+" is not encrypted", "Meta calls https only: put a proxy with a certificate before it, or give --tls-cert")
	}
	who, err := probeOf(ctx, base)
	switch {
	case err == nil:
		d.ok(check, "%s leads to trunkline %s", base, who)
	case !running:
		d.warn(check, "nobody knows whether "+base+" leads here: the server does not run", "run the doctor again beside it")
	default:
		d.bad(check, base+" does not lead to this server: "+oneLine(err.Error()), "look at the proxy, the firewall and the name server, or correct --base-url")
	}
}

// port looks whether it is free, or a server of ours has it, and says whether
// one runs.
func (d *doctor) port(ctx context.Context) bool {
	const check = "port"
	ln, err := listenOn(ctx, "--addr", d.set.Addr)
	if err == nil {
		_ = ln.Close()
		d.ok(check, "%s is free: no server runs there", d.set.Addr)
		return false
	}
	host, port, _ := net.SplitHostPort(d.set.Addr) // it was checked
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if d.set.TLSCert != "" {
		scheme = "https://"
	}
	who, asked := probeOf(ctx, scheme+net.JoinHostPort(host, port))
	switch {
	case asked != nil && d.set.TLSCert != "":
		d.warn(check, d.set.Addr+" is in use, and nobody knows by whom: "+oneLine(asked.Error()), "a certificate for another name is no error here")
	case asked != nil:
		d.bad(check, oneLine(strings.TrimPrefix(err.Error(), "--addr: "))+", and no trunkline answers there", "end what listens there, or name another --addr")
		return false
	case who != programVersion():
		d.warn(check, "trunkline "+who+" runs there, and this is "+programVersion(), "restart the server after an upgrade")
	default:
		d.ok(check, "a trunkline of this version runs at %s", d.set.Addr)
	}
	return true
}

// probeOf asks which version answers at an address.
func probeOf(ctx context.Context, base string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/probe", nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", unquoted(err)
	}
	defer res.Body.Close()
	var p struct{ Status, Version, Database string }
	if err := json.NewDecoder(io.LimitReader(res.Body, mostAnswer)).Decode(&p); err != nil || p.Database == "" && res.StatusCode != http.StatusServiceUnavailable {
		return "", fmt.Errorf("what answers there with %d is no trunkline", res.StatusCode)
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("it answers %d: its store cannot be written, or it is about to stop", res.StatusCode)
	}
	return p.Version, nil
}

// unquoted drops the address, which may hold what is secret.
func unquoted(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// lineCures are what to do about the errors of lines.
var lineCures = map[string]string{
	"credentials":         "give the line a new access token, and start its session",
	"logged_out_on_phone": "link the line again: trunkline pair",
	"passkey_required":    "link the line again, and confirm on the phone",
	"client_outdated":     "upgrade trunkline: WhatsApp accepts this version no more",
	"replaced":            "end the other program that uses this linked device",
	"banned":              "ask WhatsApp for a review in the app: nothing here helps",
}

// lines says of each line that does not stand why.
func (d *doctor) lines(ctx context.Context) {
	const check = "lines"
	lines, err := messaging.LineStates(ctx, d.db)
	if err != nil {
		d.bad(check, oneLine(err.Error()), "look at the database")
		return
	}
	wrong := 0
	for _, l := range lines {
		text := fmt.Sprintf("line %d (%s) is %s", l.ID, l.Kind, l.State)
		if l.Code != "" {
			text += ", " + l.Code + ": " + oneLine(l.Message)
		}
		switch {
		case l.State == "FAILED" || l.State == "LOGGED_OUT" || l.Code == "credentials":
			wrong++
			d.bad(check, text, or(lineCures[l.Code], "start its session, and see what the network says"))
		case l.Code != "":
			wrong++
			d.warn(check, text, or(lineCures[l.Code], "it is tried again by itself"))
		}
	}
	d.ok(check, "%d of %d without an error", len(lines)-wrong, len(lines))
}

// webhooks asks each target for nothing, to see whether it answers at all.
func (d *doctor) webhooks(ctx context.Context) {
	const check = "webhooks"
	targets, err := webhook.Targets(ctx, d.db)
	if err != nil {
		d.bad(check, oneLine(err.Error()), "look at the database")
		return
	}
	wall, err := guard.New(d.set.Server.WebhookAllow)
	if err != nil {
		return // it was checked
	}
	client, asked, wrong := wall.Client(), map[string]error{}, 0
	for _, t := range targets {
		u, err := url.Parse(t.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue // built in
		}
		at := u.Scheme + "://" + u.Host // a path may hold what is secret
		switch {
		case !t.Enabled:
			wrong++
			d.warn(check, "the endpoint at "+at+" is disabled: "+or(oneLine(t.LastError), "by a user"), "put its receiver right and enable it, then replay what it missed")
			continue
		case t.Paused:
			wrong++
			d.warn(check, "the endpoint at "+at+" is down: "+oneLine(t.LastError), "put its receiver right: it is tried again by itself")
			continue
		}
		if _, done := asked[at]; !done {
			asked[at] = answers(ctx, client, at)
		}
		if err := asked[at]; err != nil {
			wrong++
			d.bad(check, "nothing answers at "+at+": "+oneLine(err.Error()), "put its receiver right; a private address needs --webhook-allow")
		}
	}
	d.ok(check, "%d of %d can be reached", len(targets)-wrong, len(targets))
}

// answers returns nil when anything answers at an address.
func answers(ctx context.Context, client *http.Client, at string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, at, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return unquoted(err)
	}
	return res.Body.Close()
}
