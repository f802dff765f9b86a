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

	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

const (
	askTimeout = 5 * time.Second
	soonOver   = 14 * 24 * time.Hour // of a certificate
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
	left := pair.Leaf.NotAfter.Sub(d.now())
	text := "the certificate is valid until " + pair.Leaf.NotAfter.Format(time.DateOnly)
	switch {
	case left <= 0:
		d.bad(check, text, "renew it: it is read again when the file changes")
	case left < soonOver:
		d.warn(check, text, "renew it: it is read again when the file changes")
	default:
		d.ok(check, "%s", text)
	}
}

// address checks the base URL, by which others reach the server.
func (d *doctor) address(ctx context.Context) {
	running := d.port(ctx)
	base := addressOf(d.set)
	u, err := url.Parse(base)
	if err != nil {
		return // it was checked before
	}
	const check = "address"
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if local {
		d.warn(check, base+" can be reached only from this machine", "set --base-url to the address that others use: callbacks and links need it")
		return
	}
	if u.Scheme != "https" {
		d.warn(check, base+" is not encrypted", "Meta calls https only: use a proxy with a certificate, or set --tls-cert")
	}
	who, err := probeOf(ctx, base)
	switch {
	case err == nil:
		d.ok(check, "%s is the address of trunkline %s", base, who)
	case !running:
		d.warn(check, "the server is not running, so whether "+base+" is its address is unknown", "start the server and run the doctor again")
	default:
		d.bad(check, base+" is not the address of this server: "+oneLine(err.Error()), "check the proxy, the firewall and the name server, or correct --base-url")
	}
}

// port checks whether the port is free or a trunkline has it. It reports whether
// one runs.
func (d *doctor) port(ctx context.Context) bool {
	const check = "port"
	ln, err := listenOn(ctx, "--addr", d.set.Addr)
	if err == nil {
		_ = ln.Close()
		d.ok(check, "%s is free: no server is running there", d.set.Addr)
		return false
	}
	scheme := "http://"
	if d.set.TLSCert != "" {
		scheme = "https://"
	}
	who, asked := probeOf(ctx, scheme+near(d.set.Addr))
	switch {
	case asked != nil && d.set.TLSCert != "":
		d.warn(check, d.set.Addr+" is in use by an unknown program: "+oneLine(asked.Error()), "if it is trunkline with a certificate for another name, ignore this")
	case asked != nil:
		d.bad(check, oneLine(strings.TrimPrefix(err.Error(), "--addr: "))+", and it is not used by a trunkline", "stop the program that listens there, or set another --addr")
		return false
	case who != programVersion():
		d.warn(check, "trunkline "+who+" runs there, but this program is "+programVersion(), "restart the server after an upgrade")
	default:
		d.ok(check, "a trunkline of this version runs at %s", d.set.Addr)
	}
	return true
}

// near returns the address by which this machine reaches a listening address.
func near(addr string) string {
	host, port, _ := net.SplitHostPort(addr) // it was checked before
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// proxies warns of proxies that requests came through and that are not trusted.
func (d *doctor) proxies(ctx context.Context) {
	const check = "proxies"
	found, err := middleware.UntrustedProxies(ctx, d.db, d.set.Server.TrustedProxies, d.now())
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return
	}
	for _, proxy := range found {
		d.warn(check, "requests came through a proxy at "+proxy.String()+" that is not trusted: all its clients count as one address, and failed logins of one block the others",
			"if it is your proxy, add it to --trusted-proxies")
	}
}

// metrics checks the port of the metrics: it must be free, or serve them.
func (d *doctor) metrics(ctx context.Context) {
	const check = "metrics"
	if d.set.MetricsAddr == "" {
		return
	}
	ln, err := listenOn(ctx, "--metrics-addr", d.set.MetricsAddr)
	if err == nil {
		_ = ln.Close()
		d.ok(check, "%s is free: no server is running there", d.set.MetricsAddr)
		return
	}
	text, asked := read(ctx, http.DefaultClient, "http://"+near(d.set.MetricsAddr)+"/metrics")
	if asked != nil || !strings.Contains(text, "trunkline_") {
		d.bad(check, oneLine(strings.TrimPrefix(err.Error(), "--metrics-addr: "))+", and it does not serve the metrics of trunkline", "stop the program that listens there, or set another --metrics-addr")
		return
	}
	d.ok(check, "%s serves them", d.set.MetricsAddr)
}

// read returns the beginning of a page.
func read(ctx context.Context, client *http.Client, at string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if err != nil {
		return "", unquoted(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return string(text), err
}

// probeOf returns the version of the trunkline at an address.
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
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&p); err != nil || p.Database == "" && res.StatusCode != http.StatusServiceUnavailable {
		return "", fmt.Errorf("the server that answers there with %d is not a trunkline", res.StatusCode)
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("it answers %d: its database cannot be written, or it is about to stop", res.StatusCode)
	}
	return p.Version, nil
}

// unquoted removes the address from an error, since it may contain a secret.
func unquoted(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
