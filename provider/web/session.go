package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
)

// session is an open line. One goroutine, run, decides what becomes of its
// connection; whatsmeow's report to it what happens.
type session struct {
	p     *Provider
	ref   provider.Reference
	inbox provider.Inbox
	log   *slog.Logger
	store *guarded

	ctx     context.Context
	end     context.CancelFunc
	done    chan struct{} // run is over
	signals chan signal

	mu     sync.Mutex
	client *whatsmeow.Client  // nil: not paired, nor about to be
	calls  int                // connections so far
	hangUp context.CancelFunc // ends what the client's connection still does; nil: it has none
	up     chan struct{}      // closed while the line is connected
	isUp   bool
	idle   bool      // nothing is done about a connection
	seen   time.Time // when the network last said something
	closed bool

	handled   atomic.Int64 // events so far
	rate      *rateLimiter
	names     names
	asked     asked
	importing sync.Mutex // one piece of history at a time
	telling   sync.Mutex // one report of the phone's book at a time
	working   sync.WaitGroup
}

// signal tells run what happened.
type signal struct {
	from *whatsmeow.Client // to know those of an earlier one; nil: always counts
	what any               // an event of whatsmeow, or one of ours below
}

type (
	link  struct{ phone string } // a user asked for the line to be linked
	stuck struct{}               // something could not be stored: it is to come again
)

// maxSignals is how many events may wait for run: it handles them at once
// unless the database hangs.
const maxSignals = 64

// Open begins to connect a line that is paired. One that is not waits for Link.
func (p *Provider) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	s := &session{
		p: p, ref: ref, inbox: inbox, log: p.opts.Logger.With(slog.Int64("reference", int64(ref.ID))),
		done: make(chan struct{}), signals: make(chan signal, maxSignals), up: make(chan struct{}),
		rate: newRateLimiter(p.opts.Rates, p.opts.Now),
	}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.store = p.devices.of(ref, func() {
		if c := s.device(); c != nil {
			s.breakOff(c)
		}
	})
	s.store.contactStore.report = func() { s.spawn("reporting the phone's book", s.publishContacts) }
	dev, err := p.devices.load(ctx, s.store)
	if err == nil {
		err = errors.Join(s.loadRate(ctx), s.loadContacts(ctx))
	}
	if err != nil {
		s.end()
		return nil, fmt.Errorf("web: %w", err)
	}
	if dev != nil {
		s.client, err = s.newClient(dev)
	}
	go s.run(err)
	return s, nil
}

// Link begins to pair the line, or again.
func (s *session) Link(ctx context.Context, phone string) error {
	return s.signal(ctx, signal{what: link{phone}})
}

// Unlink takes the line off its phone.
func (s *session) Unlink(ctx context.Context) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	if err := c.Logout(ctx); err != nil {
		return fmt.Errorf("web: taking the line off its phone: %w", err)
	}
	return nil
}

// Close ends the connection.
func (s *session) Close(ctx context.Context) error {
	s.end()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("web: closing a line: %w", ctx.Err())
	}
}

// signal hands something to run.
func (s *session) signal(ctx context.Context, g signal) error {
	select {
	case s.signals <- g:
		return nil
	case <-s.done:
		return errClosed
	case <-s.ctx.Done():
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errClosed = fmt.Errorf("web: the session is closed")

// leased reports whether this process may still act for the line.
func (s *session) leased() bool { return leased(s.ref) }

// spawn runs what must not hold up the network. It ends with the session.
func (s *session) spawn(what string, fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.working.Go(func() {
		defer s.recovered(what)
		fn()
	})
}

// recovered keeps a panic from ending the process.
func (s *session) recovered(what string) {
	if p := recover(); p != nil {
		s.log.Error("a line could not go on", slog.String("with", what), slog.Any("panic", p))
	}
}

// rest waits until nothing is done for the line any more.
func (s *session) rest() {
	s.renew(nil)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.working.Wait()
}

// connected waits until the line is connected.
func (s *session) connected(ctx context.Context) (*whatsmeow.Client, error) {
	s.mu.Lock()
	up, c, idle := s.up, s.client, s.idle
	s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, &provider.Temporary{Err: errClosed}
	}
	if c == nil || idle {
		return nil, &provider.Temporary{Err: whatsmeow.ErrNotLoggedIn}
	}
	if err := ctx.Err(); err != nil {
		return nil, &provider.Temporary{Err: err}
	}
	if !s.leased() {
		return nil, &provider.Temporary{Err: errLost}
	}
	late := time.NewTimer(connectTimeout)
	defer late.Stop()
	select {
	case <-up:
	case <-s.ctx.Done():
		return nil, &provider.Temporary{Err: errClosed}
	case <-ctx.Done():
		return nil, &provider.Temporary{Err: ctx.Err()}
	case <-late.C:
		return nil, &provider.Temporary{Err: whatsmeow.ErrNotConnected, After: time.Second}
	}
	if !s.leased() {
		return nil, &provider.Temporary{Err: errLost}
	}
	return c, nil
}

// connectTimeout is how long a send waits for a line that reconnects.
const connectTimeout = 10 * time.Second

// setUp notes whether the line is connected.
func (s *session) setUp(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isUp == up {
		return
	}
	if s.isUp = up; up {
		close(s.up)
	} else {
		s.up = make(chan struct{})
	}
}

// setIdle notes that nothing is done about a connection before a user links
// the line or opens it again.
func (s *session) setIdle(idle bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idle
}

func (s *session) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// touch notes that the network said something.
func (s *session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = s.p.opts.Now()
}

// quietFor is how long the network has said nothing.
func (s *session) quietFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.p.opts.Now().Sub(s.seen)
}
