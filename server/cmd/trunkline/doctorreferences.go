package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/webhook"
)

// referenceCures are the cures for errors of references.
var referenceCures = map[string]string{ //nolint:gosec // texts, no credentials
	"credentials":         "give the reference a new access token, and start its session",
	"logged_out_on_phone": "link the reference again: trunkline pair",
	"passkey_required":    "link the reference again, and answer the request for a passkey",
	"client_outdated":     "upgrade trunkline: WhatsApp no longer accepts this version",
	"replaced":            "stop the other program that uses this linked device",
	"banned":              "ask WhatsApp for a review in the app",
}

// issueCures are the cures for settings that references lack.
var issueCures = map[string]string{
	graph.CallbacksUnverified: "set its appSecret, or start the server with --meta-app-secret",
	cloud.AccountUnknown:      "set its businessAccountId, or start its session",
}

// references reports why references are not connected, and asks the networks.
func (d *doctor) references(ctx context.Context) {
	const check = "references"
	var opts messaging.Options
	if d.secrets != nil {
		secret, token := string(d.set.Server.MetaAppSecret), string(d.set.Server.MetaVerifyToken)
		opts.Providers, opts.Secrets = []provider.Provider{
			cloud.New(&cloud.Options{AppSecret: secret, VerifyToken: token}), messenger.New(&messenger.Options{AppSecret: secret, VerifyToken: token}),
		}, d.secrets
	}
	refs, err := messaging.ReferenceStates(ctx, d.db, &opts)
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return
	}
	wrong := 0
	for _, l := range refs {
		text := fmt.Sprintf("reference %d (%s) is %s", l.ID, l.Kind, l.State)
		if l.Code != "" {
			text += ", " + l.Code + ": " + oneLine(l.Message)
		}
		for _, issue := range l.Issues {
			d.warn(check, fmt.Sprintf("reference %d (%s): %s: %s", l.ID, l.Kind, issue.Kind, issue.Message), or(issueCures[issue.Kind], "complete its settings"))
		}
		switch {
		case l.State == messaging.StateFailed || l.State == messaging.StateLoggedOut || l.Code == "credentials":
			wrong++
			d.bad(check, text, or(referenceCures[l.Code], "start its session, and look up the network's error"))
		case l.Code != "":
			wrong++
			d.warn(check, text, or(referenceCures[l.Code], "trunkline tries again automatically"))
		}
	}
	d.ok(check, "%d of %d have no error", len(refs)-wrong, len(refs))
	refs = slices.DeleteFunc(refs, func(l messaging.ReferenceState) bool { return l.State == messaging.StateStopped })
	d.whatsapp(ctx, refs)
	d.graph(ctx, refs)
}

// graph checks whether the Graph API can be reached, and the access tokens of the
// references.
func (d *doctor) graph(ctx context.Context, refs []messaging.ReferenceState) {
	refs = slices.DeleteFunc(refs, func(l messaging.ReferenceState) bool { return l.Kind != cloud.Kind && l.Kind != messenger.Kind })
	if len(refs) == 0 {
		return
	}
	if !d.network(ctx, graph.NewHTTPClient(), or(d.set.Server.GraphURL, graph.DefaultURL)) || d.secrets == nil {
		return
	}
	const check = "tokens"
	api, good := graph.New(&graph.Options{URL: d.set.Server.GraphURL, Timeout: askTimeout}), 0
	for _, l := range refs {
		t, err := api.As(l.Settings[graph.AccessToken]).Token(ctx)
		text := fmt.Sprintf("the access token of reference %d ", l.ID)
		_, refused := errors.AsType[*provider.AuthExpired](graph.CallError(err))
		switch {
		case refused, err == nil && !t.Valid:
			d.bad(check, text+"is not valid", referenceCures["credentials"])
		case err != nil:
			d.warn(check, text+"could not be checked: "+oneLine(err.Error()), "look up the network's error, and run the doctor again")
		case !t.Expires.IsZero() && t.Expires.Sub(d.now()) < soonOver:
			d.warn(check, text+"expires on "+t.Expires.UTC().Format(time.DateOnly), "give the reference a new one before that day, for example one of a system user, which does not expire")
		default:
			good++
		}
	}
	d.ok(check, "%d of %d are valid", good, len(refs))
}

// network checks whether a server outside answers, and compares its clock.
func (d *doctor) network(ctx context.Context, client *http.Client, at string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	begin := d.now()
	header, err := head(ctx, client, at)
	end := d.now()
	if err != nil {
		d.bad("network", at+" cannot be reached: "+oneLine(err.Error()), "allow outgoing connections: check the firewall, the name server and HTTPS_PROXY")
		return false
	}
	d.ok("network", "%s answers", at)
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		theirs := date.Add(time.Second / 2) // it has whole seconds
		d.clock(at, theirs, nearest(theirs, begin, end))
	}
	return true
}

// nearest returns the moment between begin and end, inclusive, that is nearest to
// to.
func nearest(to, begin, end time.Time) time.Time {
	switch {
	case to.Before(begin):
		return begin
	case to.After(end):
		return end
	}
	return to
}

// webhooks checks whether the target of each webhook answers at all.
func (d *doctor) webhooks(ctx context.Context) {
	const check = "webhooks"
	targets, err := webhook.Targets(ctx, d.db)
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return
	}
	wall, err := guard.New(d.set.Server.WebhookAllow)
	if err != nil {
		return // it was checked before
	}
	client, asked, wrong := wall.Client(), map[string]error{}, 0
	for _, t := range targets {
		u, err := url.Parse(t.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue // built in
		}
		at := u.Scheme + "://" + u.Host // a path may contain a secret
		switch {
		case !t.Enabled:
			wrong++
			d.warn(check, "the endpoint at "+at+" is disabled: "+or(oneLine(t.LastError), "by a user"), "correct its receiver and enable it, then replay what it missed")
			continue
		case t.Paused:
			wrong++
			d.warn(check, "the endpoint at "+at+" is down: "+oneLine(t.LastError), "correct its receiver: trunkline tries again automatically")
			continue
		}
		if _, done := asked[at]; !done {
			asked[at] = answers(ctx, client, at)
		}
		if err := asked[at]; err != nil {
			wrong++
			d.bad(check, "nothing answers at "+at+": "+oneLine(err.Error()), "correct its receiver; a private address needs --webhook-allow")
		}
	}
	d.ok(check, "%d of %d can be reached", len(targets)-wrong, len(targets))
}

// answers returns nil if anything answers at an address.
func answers(ctx context.Context, client *http.Client, at string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := head(ctx, client, at)
	return err
}

// head makes a HEAD request.
func head(ctx context.Context, client *http.Client, at string) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, at, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, unquoted(err)
	}
	return res.Header, res.Body.Close()
}
