package web

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// dialTimeout bounds one attempt to connect.
	dialTimeout = 30 * time.Second
	// maxRedialDelay limits the pause between two attempts.
	maxRedialDelay = time.Minute
	// reportRetryDelay is the pause before a report that could not be stored is
	// repeated.
	reportRetryDelay = time.Second
	// stableAfter is how long a connection must last before its loss starts the
	// pauses between attempts from the beginning.
	stableAfter = 20 * time.Second
	// codeCheckInterval is how often the loop checks whether a pairing code has
	// expired. The expiry is shown in the time of the options' clock, which
	// timers do not follow.
	codeCheckInterval = 100 * time.Millisecond
	// deafAfter is how long a connection may be silent before a failed keep-alive
	// means that it is dead.
	deafAfter = 20 * time.Second
)

// connectionLoop opens the connection of a session and reopens it when it is
// lost. One goroutine runs it; whatsmeow's events reach it as signals.
type connectionLoop struct {
	conn        *connection
	inbox       provider.Inbox
	clients     *clients
	passkeys    *passkeys
	onConnected func(*whatsmeow.Client) // runs in the background after each connection

	tries      int       // attempts since the last stable connection
	since      time.Time // when it was connected; zero: it is not
	redial     time.Time // when to connect next; zero: not planned
	linking    linking
	unreported *provider.Connection // a report that could not be stored
	reportNext time.Time            // when to repeat it
}

// run keeps the reference connected until the session is closed. When
// configErr is set, it reports that error and waits: the user has to change the
// settings and open the reference again.
func (r *connectionLoop) run(configErr error) {
	defer close(r.conn.done)
	defer r.conn.shutDown()
	if configErr != nil {
		r.recoverStep(func() { r.stop(provider.UnknownReason, configErr.Error(), time.Time{}) })
	}
	if r.conn.current() != nil {
		r.recoverStep(func() {
			r.report(&provider.Connection{State: provider.Connecting})
			r.connect()
		})
	}
	for r.conn.leased() {
		timer := time.NewTimer(r.wait())
		select {
		case <-r.conn.ctx.Done():
			timer.Stop()
			return
		case g := <-r.conn.signals:
			r.recoverStep(func() { r.handle(g) })
		case <-timer.C:
			r.recoverStep(r.tick)
		}
		timer.Stop()
	}
}

// recoverStep runs one step of the loop and recovers from its panic.
func (r *connectionLoop) recoverStep(step func()) {
	defer r.conn.recovered("its connection")
	step()
}

// wait returns how long the loop may sleep.
func (r *connectionLoop) wait() time.Duration {
	until := time.Hour
	for _, at := range []time.Time{r.redial, r.reportNext} {
		if !at.IsZero() {
			until = min(until, time.Until(at))
		}
	}
	if !r.linking.expires.IsZero() {
		until = min(until, codeCheckInterval)
	}
	return max(until, 0)
}

func (r *connectionLoop) tick() {
	now := time.Now()
	if due(&r.reportNext, now) {
		r.report(r.unreported)
	}
	if due(&r.redial, now) {
		r.connect()
	}
	if due(&r.linking.expires, r.conn.now()) {
		r.nextCode()
	}
}

// due reports whether a time has come, and clears it then.
func due(at *time.Time, now time.Time) bool {
	if at.IsZero() || at.After(now) {
		return false
	}
	*at = time.Time{}
	return true
}

// report delivers a state of the connection. A report that cannot be stored is
// repeated, unless a newer one replaces it.
func (r *connectionLoop) report(c *provider.Connection) {
	if c == nil {
		return
	}
	if c.At.IsZero() {
		c.At = r.conn.now()
	}
	r.unreported, r.reportNext = nil, time.Time{}
	err := r.inbox.Receive(r.conn.ctx, r.conn.ref.ID, []provider.Event{c})
	if err == nil || r.conn.ctx.Err() != nil {
		return
	}
	r.conn.log.WarnContext(r.conn.ctx, "reporting a connection", slog.String("state", string(c.State)), slog.Any("error", err))
	r.unreported, r.reportNext = c, time.Now().Add(reportRetryDelay)
}

// connect makes one attempt.
func (r *connectionLoop) connect() {
	c := r.conn.current()
	if c == nil || r.conn.isIdle() || !r.conn.leased() {
		return
	}
	r.conn.drop(c)
	ctx := r.conn.beginAttempt() // the connection keeps it after the attempt
	timeout := time.AfterFunc(dialTimeout, r.conn.endAttempt)
	stopClosing := context.AfterFunc(r.conn.ctx, r.conn.endAttempt)
	err := r.clients.dial(ctx, c)
	timeout.Stop()
	stopClosing()
	switch {
	case err == nil, r.conn.ctx.Err() != nil:
	case errors.Is(err, guard.ErrRefused):
		r.stop(provider.UnknownReason, "The address in proxyUrl is private, and --webhook-allow does not list it.", time.Time{})
	default:
		r.conn.log.DebugContext(r.conn.ctx, "connecting", slog.Any("error", err))
		r.lost(provider.NoNetwork, "WhatsApp could not be reached.")
	}
}

// lost plans the next attempt: at once the first time, then after a pause that
// doubles from 1 s to a minute. A stable connection resets the pause.
func (r *connectionLoop) lost(why provider.ConnectionCode, detail string) {
	r.conn.drop(r.conn.current())
	if r.conn.isIdle() || !r.conn.leased() {
		return
	}
	if !r.since.IsZero() && time.Since(r.since) >= stableAfter {
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
		r.report(&provider.Connection{State: provider.Reconnecting, Reason: why, Detail: detail})
	}
}

// handle reacts to a signal.
func (r *connectionLoop) handle(g signal) {
	if g.from != nil && g.from != r.conn.current() {
		return
	}
	switch e := g.what.(type) {
	case link:
		r.begin(e.phone)
	case storeFailed:
		r.lost(provider.UnknownReason, "A received event could not be stored. It is fetched again.")
	case *events.QR:
		r.codes(e.Codes)
	case *events.PairSuccess:
		r.isPaired()
	case *events.ManualLoginReconnect: // the network asks the new device to log in
		r.restart()
	case *events.PairError:
		r.stop(provider.UnknownReason, "The phone did not accept this device.", time.Time{})
	case *events.PairPasskeyRequest:
		r.askPasskey(e)
	case *events.PairPasskeyConfirmation:
		r.comparePasskey(e)
	case *events.PairPasskeyError:
		r.passkeyFailed(e.Error)
	case *events.Connected:
		if r.conn.current().IsConnected() { // false: it was lost while whatsmeow reported it
			r.isConnected()
		}
	case *events.Disconnected:
		r.disconnected()
	case *events.KeepAliveTimeout:
		if quiet := r.conn.silentFor(); quiet >= deafAfter {
			r.lost(provider.Deaf, "The connection was open but carried no data.")
		}
	default:
		r.refused(e)
	}
}

func (r *connectionLoop) isConnected() {
	c := r.conn.current()
	r.since, r.redial, r.linking = time.Now(), time.Time{}, linking{}
	r.conn.touch()
	r.conn.setUp(true)
	r.report(&provider.Connection{State: provider.Connected, Account: account(c.Store)})
	r.conn.spawn("preparing a connection", func() { r.onConnected(c) })
}

func (r *connectionLoop) disconnected() {
	if r.linking.open() { // all codes were shown, or the network is gone
		r.conn.drop(r.conn.current())
		r.redial = time.Now().Add(time.Second)
		return
	}
	r.lost(provider.NoNetwork, "WhatsApp closed the connection.")
}

// refused handles the events after which reconnecting at once is useless.
func (r *connectionLoop) refused(e any) {
	switch e := e.(type) {
	case *events.LoggedOut:
		code, detail := provider.RemovedOnPhone, "The device was removed on the phone."
		if e.Reason == events.ConnectFailureUnknownLogout {
			code, detail = provider.Banned, "WhatsApp has banned the account."
		}
		r.conn.replaceClient(nil)
		r.conn.setIdle(true)
		r.report(&provider.Connection{State: provider.LoggedOut, Reason: code, Detail: detail})
	case *events.StreamReplaced:
		r.stop(provider.Replaced, "Another program has connected as the same device.", time.Time{})
	case *events.TemporaryBan:
		until := time.Time{}
		if e.Expire > 0 {
			until = r.conn.now().Add(e.Expire)
		}
		r.stop(provider.Banned, e.String(), until)
	case *events.ClientOutdated:
		r.stop(provider.ClientOutdated, "WhatsApp requires a newer version of this program.", time.Time{})
	case *events.ConnectFailure:
		r.stop(provider.UnknownReason, "WhatsApp refused the connection: "+e.Reason.String(), time.Time{})
	case *events.StreamError:
		r.conn.log.WarnContext(r.conn.ctx, "a stream ended", slog.String("code", e.Code))
	}
}

// stop closes the connection until a user links the reference or opens it
// again.
func (r *connectionLoop) stop(why provider.ConnectionCode, detail string, until time.Time) {
	r.conn.drop(r.conn.current())
	r.conn.setIdle(true)
	r.redial, r.linking = time.Time{}, linking{}
	r.report(&provider.Connection{State: provider.Disconnected, Reason: why, Detail: detail, Until: until})
}
