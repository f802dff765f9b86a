package web

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// firstCode and laterCode are how long WhatsApp's own page shows a code.
	firstCode = 60 * time.Second
	laterCode = 20 * time.Second
	// typedCode is how long a code can be typed on the phone.
	typedCode = 160 * time.Second
	// rounds is how often the network is asked for further codes.
	rounds = 3
	// pairTimeout bounds asking for a code to type.
	pairTimeout = 20 * time.Second
	// restartTimeout is how long the network may take to ask a new device to
	// log in.
	restartTimeout = 5 * time.Second
)

// linking is a line on its way to be paired.
type linking struct {
	began    bool
	reported bool // the network wants the new device to log in
	stored   bool // the new device's keys are stored
	phone    string
	left     []string // codes that are not shown yet
	shown    int      // codes of this round
	round    int
	// expires is when the code that is shown does, by the clock of the options;
	// zero: none is shown.
	expires time.Time
}

func (l *linking) open() bool { return l.began }

// begin pairs the line; one that is paired is connected.
func (r *connectionLoop) begin(phone string) {
	c := r.device()
	r.setIdle(false)
	if c != nil && c.Store.ID != nil {
		if !c.IsConnected() {
			r.redial = time.Now()
		}
		return
	}
	fresh, err := r.newClient(r.p.devices.fresh(r.store))
	if err != nil {
		r.stop(provider.UnknownReason, err.Error(), time.Time{})
		return
	}
	r.renew(fresh)
	r.linking = linking{began: true, phone: phone}
	r.tries = 0
	r.say(&provider.Connection{State: provider.Connecting})
	r.redial = time.Now()
}

// codes takes what can be scanned now.
func (r *connectionLoop) codes(codes []string) {
	l := &r.linking
	l.left, l.shown = codes, 0
	l.round++
	r.tries = 0
	if l.phone != "" {
		r.askCode()
		return
	}
	r.nextCode()
}

// nextCode shows the next code, or asks the network for more.
func (r *connectionLoop) nextCode() {
	l := &r.linking
	switch {
	case len(l.left) == 0 && l.round >= rounds, l.phone != "" && l.shown > 0:
		r.stop(provider.UnknownReason, "Nobody linked the line while codes were shown.", time.Time{})
		return
	case len(l.left) == 0:
		r.cut(r.device())
		r.redial = time.Now()
		return
	}
	ttl := laterCode
	if l.shown == 0 {
		ttl = firstCode
	}
	l.expires = r.p.opts.Now().Add(ttl)
	l.shown++
	code := l.left[0]
	l.left = l.left[1:]
	r.say(&provider.Connection{State: provider.Pairing, QR: code, Expires: l.expires})
}

// isPaired is that the new device's keys are stored.
func (r *connectionLoop) isPaired() {
	r.linking.stored, r.linking.expires = true, time.Time{}
	if r.linking.reported {
		r.restart()
		return
	}
	r.redial = time.Now().Add(restartTimeout)
}

// restart connects again, but not before a new device's keys are stored: the end
// of the connection would undo the pairing.
func (r *connectionLoop) restart() {
	if r.linking.open() && !r.linking.stored {
		r.linking.reported = true
		return
	}
	r.cut(r.device())
	r.redial = time.Now()
}

// askCode asks for a code that is typed on the phone.
func (r *connectionLoop) askCode() {
	ctx, cancel := context.WithTimeout(r.ctx, pairTimeout)
	defer cancel()
	code, err := r.device().PairPhone(ctx, r.linking.phone, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		r.log.WarnContext(ctx, "asking for a pairing code", slog.Any("error", err))
		r.stop(provider.UnknownReason, "WhatsApp gave no code for this number.", time.Time{})
		return
	}
	r.linking.shown = 1
	r.linking.expires = r.p.opts.Now().Add(typedCode)
	r.say(&provider.Connection{State: provider.Pairing, Code: code, Expires: r.linking.expires})
}
