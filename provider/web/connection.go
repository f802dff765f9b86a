package web

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// dialTimeout bounds one attempt to connect.
	dialTimeout = 30 * time.Second
	// maxRedialDelay is the longest pause between two attempts.
	maxRedialDelay = time.Minute
	// sayAgain is how soon a report is repeated that could not be stored.
	sayAgain = time.Second
	// completed is how long a connection must have stood for its loss to be no
	// sign of a trouble that stays.
	completed = 20 * time.Second
	// codeLook is how often it is looked whether a code has expired. People are
	// told when by a clock that may leap, and timers go by another.
	codeLook = 100 * time.Millisecond
	// deafAfter is how long a connection may be silent before a probe that
	// fails means that it carries nothing.
	deafAfter = 20 * time.Second
)

// connectionLoop is what run knows of its connection.
type connectionLoop struct {
	*session
	tries   int       // attempts since the line last stood for a while
	since   time.Time // when it was connected; zero: it is not
	redial  time.Time
	linking linking
	unsaid  *provider.Connection // a report that could not be stored
	again   time.Time            // when that is tried again
}

// run connects the line until the session is closed. With wrong, it waits for
// the owner to put that right and to open the line again.
func (s *session) run(wrong error) {
	defer close(s.done)
	r := &connectionLoop{session: s}
	defer s.rest()
	if wrong != nil {
		r.recoverStep(func() { r.stop(provider.UnknownReason, wrong.Error(), time.Time{}) })
	}
	if s.device() != nil {
		r.recoverStep(func() {
			r.say(&provider.Connection{State: provider.Connecting})
			r.connect()
		})
	}
	for s.leased() {
		timer := time.NewTimer(r.wait())
		select {
		case <-s.ctx.Done():
			timer.Stop()
			return
		case g := <-s.signals:
			r.recoverStep(func() { r.handle(g) })
		case <-timer.C:
			r.recoverStep(r.tick)
		}
		timer.Stop()
	}
}

// recoverStep makes one step that a panic does not carry out of.
func (r *connectionLoop) recoverStep(step func()) {
	defer r.recovered("its connection")
	step()
}

// wait is how long until there is something to do.
func (r *connectionLoop) wait() time.Duration {
	until := time.Hour
	for _, at := range []time.Time{r.redial, r.again} {
		if !at.IsZero() {
			until = min(until, time.Until(at))
		}
	}
	if !r.linking.expires.IsZero() {
		until = min(until, codeLook)
	}
	return max(until, 0)
}

func (r *connectionLoop) tick() {
	now := time.Now()
	if due(&r.again, now) {
		r.say(r.unsaid)
	}
	if due(&r.redial, now) {
		r.connect()
	}
	if due(&r.linking.expires, r.p.opts.Now()) {
		r.nextCode()
	}
}

// due reports whether a time has come, and forgets it then.
func due(at *time.Time, now time.Time) bool {
	if at.IsZero() || at.After(now) {
		return false
	}
	*at = time.Time{}
	return true
}

// say reports how the connection stands. What cannot be stored is repeated,
// unless something else is said meanwhile.
func (r *connectionLoop) say(c *provider.Connection) {
	if c == nil {
		return
	}
	if c.At.IsZero() {
		c.At = r.p.opts.Now()
	}
	r.unsaid, r.again = nil, time.Time{}
	err := r.inbox.Receive(r.ctx, r.ref.ID, []provider.Event{c})
	if err == nil || r.ctx.Err() != nil {
		return
	}
	r.log.WarnContext(r.ctx, "reporting a connection", slog.String("state", string(c.State)), slog.Any("error", err))
	r.unsaid, r.again = c, time.Now().Add(sayAgain)
}

// connect makes one attempt.
func (r *connectionLoop) connect() {
	c := r.device()
	if c == nil || r.isIdle() || !r.leased() {
		return
	}
	r.cut(c)
	ctx := r.pickUp() // which stays that of the connection
	late, over := time.AfterFunc(dialTimeout, r.disconnect), context.AfterFunc(r.ctx, r.disconnect)
	err := r.dial(ctx, c)
	late.Stop()
	over()
	switch {
	case err == nil, r.ctx.Err() != nil:
	case errors.Is(err, guard.ErrRefused):
		r.stop(provider.UnknownReason, "The proxyUrl lies at a private address, which --webhook-allow does not name.", time.Time{})
	default:
		r.log.DebugContext(r.ctx, "connecting a line", slog.Any("error", err))
		r.lost(provider.NoNetwork, "WhatsApp could not be reached.")
	}
}

// lost connects again after a pause: at once the first time, then after 1 s
// doubling to a minute, until a connection has stood for a while.
func (r *connectionLoop) lost(why provider.ConnectionCode, detail string) {
	r.cut(r.device())
	if r.isIdle() || !r.leased() {
		return
	}
	if !r.since.IsZero() && time.Since(r.since) >= completed {
		r.tries = 0
	}
	r.since = time.Time{}
	if r.linking.open() {
		r.linking.expires = time.Time{}
	}
	pause := time.Duration(0)
	if r.tries > 0 {
		pause = min(maxRedialDelay, time.Second<<min(r.tries-1, 10))
		pause = time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // a pause is not a secret
	}
	r.tries++
	r.redial = time.Now().Add(pause)
	if !r.linking.open() {
		r.say(&provider.Connection{State: provider.Reconnecting, Reason: why, Detail: detail})
	}
}

// handle does what follows from something that happened.
func (r *connectionLoop) handle(g signal) {
	if g.from != nil && g.from != r.device() {
		return
	}
	switch e := g.what.(type) {
	case link:
		r.begin(e.phone)
	case stuck:
		r.lost(provider.UnknownReason, "What was received could not be stored. It is fetched again.")
	case *events.QR:
		r.codes(e.Codes)
	case *events.PairSuccess:
		r.isPaired()
	case *events.ManualLoginReconnect: // the network wants the device to log in
		r.restart()
	case *events.PairError:
		r.stop(provider.UnknownReason, "The phone did not accept this device.", time.Time{})
	case *events.PairPasskeyRequest, *events.PairPasskeyError:
		r.stop(provider.PasskeyRequired, "The account asks for a passkey when a device is linked. Switch that off on the phone, then link again.", time.Time{})
	case *events.Connected:
		if r.device().IsConnected() { // else it was lost while whatsmeow still greeted
			r.isConnected()
		}
	case *events.Disconnected:
		r.disconnected()
	case *events.KeepAliveTimeout:
		if quiet := r.quietFor(); quiet >= deafAfter {
			r.lost(provider.Deaf, "The connection stood, but carried nothing.")
		}
	default:
		r.refused(e)
	}
}

func (r *connectionLoop) isConnected() {
	c := r.device()
	r.since, r.redial, r.linking = time.Now(), time.Time{}, linking{}
	r.touch()
	r.setUp(true)
	r.say(&provider.Connection{State: provider.Connected, Account: account(c.Store)})
	r.spawn("what follows a connection", func() { r.welcome(c) })
}

func (r *connectionLoop) disconnected() {
	if r.linking.open() { // all codes were shown, or the network went away
		r.cut(r.device())
		r.redial = time.Now().Add(time.Second)
		return
	}
	r.lost(provider.NoNetwork, "WhatsApp closed the connection.")
}

// refused is the end of a connection that does not come back by itself.
func (r *connectionLoop) refused(e any) {
	switch e := e.(type) {
	case *events.LoggedOut:
		code, words := provider.RemovedOnPhone, "The device was removed on the phone."
		if e.Reason == events.ConnectFailureUnknownLogout {
			code, words = provider.Banned, "WhatsApp has banned the account."
		}
		r.renew(nil)
		r.setIdle(true)
		r.say(&provider.Connection{State: provider.LoggedOut, Reason: code, Detail: words})
	case *events.StreamReplaced:
		r.stop(provider.Replaced, "Another program has connected as the same device.", time.Time{})
	case *events.TemporaryBan:
		until := time.Time{}
		if e.Expire > 0 {
			until = r.p.opts.Now().Add(e.Expire)
		}
		r.stop(provider.Banned, e.String(), until)
	case *events.ClientOutdated:
		r.stop(provider.ClientOutdated, "WhatsApp takes only newer versions of this program.", time.Time{})
	case *events.ConnectFailure:
		r.stop(provider.UnknownReason, "WhatsApp refused the connection: "+e.Reason.String(), time.Time{})
	case *events.StreamError:
		r.log.WarnContext(r.ctx, "a stream ended", slog.String("code", e.Code))
	}
}

// stop ends the connection for good, or until a user opens the line again.
func (r *connectionLoop) stop(why provider.ConnectionCode, words string, until time.Time) {
	r.cut(r.device())
	r.setIdle(true)
	r.redial, r.linking = time.Time{}, linking{}
	r.say(&provider.Connection{State: provider.Disconnected, Reason: why, Detail: words, Until: until})
}
