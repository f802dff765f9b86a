package web

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// firstCodeTTL and laterCodeTTL are how long WhatsApp's own page shows a QR
	// code.
	firstCodeTTL = 60 * time.Second
	laterCodeTTL = 20 * time.Second
	// typedCodeTTL is how long a code can be typed on the phone.
	typedCodeTTL = 160 * time.Second
	// maxRounds is how often the network is asked for QR codes.
	maxRounds = 3
	// pairTimeout limits the request for a code to type.
	pairTimeout = 20 * time.Second
	// restartTimeout is how long the network may take to ask a new device to
	// log in.
	restartTimeout = 5 * time.Second
)

// linking is the state of a reference that is being paired.
type linking struct {
	started        bool
	loginRequested bool // the network has asked the new device to log in
	stored         bool // the new device's keys are stored
	passkey        bool // the network has asked for a passkey
	phone          string
	left           []string // QR codes that were not shown yet
	shown          int      // codes of this round
	round          int
	// expires is when the shown code expires, by the clock of the options; zero:
	// none is shown.
	expires time.Time
}

func (l *linking) open() bool { return l.started }

// begin starts to pair the reference, or connects it if it is paired.
func (r *connectionLoop) begin(phone string) {
	c := r.conn.current()
	r.conn.setIdle(false)
	if c != nil && c.Store.ID != nil {
		if !c.IsConnected() {
			r.redial = time.Now()
		}
		return
	}
	fresh, err := r.clients.newClient(r.clients.p.devices.fresh(r.clients.store))
	if err != nil {
		r.stop(provider.UnknownReason, err.Error(), time.Time{})
		return
	}
	r.conn.replaceClient(fresh)
	r.linking = linking{started: true, phone: phone}
	r.tries = 0
	r.report(&provider.Connection{State: provider.Connecting})
	r.redial = time.Now()
}

// codes shows the first of the QR codes that the network sent.
func (r *connectionLoop) codes(codes []string) {
	l := &r.linking
	l.left, l.shown, l.passkey = codes, 0, false
	l.round++
	r.tries = 0
	if l.phone != "" {
		r.askCode()
		return
	}
	r.nextCode()
}

// nextCode shows the next QR code, or asks the network for more.
func (r *connectionLoop) nextCode() {
	l := &r.linking
	switch {
	case l.passkey:
		r.stop(provider.PasskeyRequired, "No passkey was given in time. "+passkeyAdvice, time.Time{})
		return
	case len(l.left) == 0 && l.round >= maxRounds, l.phone != "" && l.shown > 0:
		r.stop(provider.UnknownReason, "No phone linked the device while codes were shown.", time.Time{})
		return
	case len(l.left) == 0:
		r.conn.drop(r.conn.current())
		r.redial = time.Now()
		return
	}
	ttl := laterCodeTTL
	if l.shown == 0 {
		ttl = firstCodeTTL
	}
	l.expires = r.conn.now().Add(ttl)
	l.shown++
	code := l.left[0]
	l.left = l.left[1:]
	r.report(&provider.Connection{State: provider.Pairing, QR: code, Expires: l.expires})
}

// isPaired records that the new device's keys are stored, and plans its login.
func (r *connectionLoop) isPaired() {
	r.passkeys.answered()
	r.linking.stored, r.linking.expires = true, time.Time{}
	if r.linking.loginRequested {
		r.restart()
		return
	}
	r.redial = time.Now().Add(restartTimeout)
}

// restart reconnects. If a new device's keys are not stored yet, it waits for
// them, because closing the connection would undo the pairing.
func (r *connectionLoop) restart() {
	if r.linking.open() && !r.linking.stored {
		r.linking.loginRequested = true
		return
	}
	r.conn.drop(r.conn.current())
	r.redial = time.Now()
}

// askCode asks for a code to type on the phone.
func (r *connectionLoop) askCode() {
	ctx, cancel := context.WithTimeout(r.conn.ctx, pairTimeout)
	defer cancel()
	code, err := r.conn.current().PairPhone(ctx, r.linking.phone, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		r.conn.log.WarnContext(ctx, "asking for a pairing code", slog.Any("error", err))
		r.stop(provider.UnknownReason, "WhatsApp did not return a code for this number.", time.Time{})
		return
	}
	r.linking.shown = 1
	r.linking.expires = r.conn.now().Add(typedCodeTTL)
	r.report(&provider.Connection{State: provider.Pairing, Code: code, Expires: r.linking.expires})
}
