package remote

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// breakAfter is the number of failures in a row that opens a server's circuit.
	breakAfter = 5
	// breakFor is how long a circuit stays open. Then one call probes the server.
	breakFor = 30 * time.Second
)

var (
	errBroken = errors.New("the server has failed several times in a row; it is not called for 30 seconds")
	errLate   = errors.New("the server did not answer in time")
	errClosed = errors.New("the server is about to stop")
)

// pool keeps one connection to each server that is in use.
type pool struct {
	s       *Service
	mu      sync.Mutex
	servers map[string]*holder // by the server's id
	open    map[*session]bool  // connections that are not closed
	closed  bool
	work    sync.WaitGroup  // goroutines that connect or close
	ctx     context.Context //nolint:containedctx // ends connection attempts when the pool closes
	cancel  context.CancelFunc
}

// holder is the state of a server in the pool.
type holder struct {
	session  *session
	dialing  *dialing // nil: no attempt is under way
	failures int      // in a row
	until    time.Time
}

// dialing is an attempt to connect, on which several calls may wait.
type dialing struct {
	target target
	done   chan struct{}
	err    error
}

func newPool(s *Service) *pool {
	p := &pool{s: s, servers: map[string]*holder{}, open: map[*session]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// acquire returns a connection to a server. The caller returns it with [pool.give].
// No call waits beyond its deadline: the client is known to exceed it against hosts
// that drop all packets.
func (p *pool) acquire(ctx context.Context, t target) (*session, error) {
	late := time.NewTimer(p.s.opts.Connect)
	defer late.Stop()
	for {
		s, d, err := p.try(t)
		if s != nil || err != nil {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, errLate
		case <-late.C:
			p.abandon(t.server.ID, d)
			return nil, errLate
		case <-d.done:
			if d.err != nil {
				return nil, d.err
			}
		}
	}
}

// abandon gives up an attempt that takes too long. Its connection is closed.
func (p *pool) abandon(id string, d *dialing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.servers[id]; h != nil && h.dialing == d {
		h.dialing = nil
		p.failed(h)
	}
}

// try returns the existing connection, or an attempt to make one.
func (p *pool) try(t target) (*session, *dialing, error) {
	now := p.s.opts.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errClosed
	}
	h := p.servers[t.server.ID]
	if h == nil {
		h = &holder{}
		p.servers[t.server.ID] = h
	}
	if s := h.session; s != nil {
		if s.target.key() == t.key() && now.Sub(s.startedAt) < maxAge {
			s.busy++
			return s, nil, nil
		}
		p.retire(h)
	}
	if d := h.dialing; d != nil && d.target.key() == t.key() {
		return nil, d, nil
	}
	if now.Before(h.until) {
		return nil, nil, errBroken
	}
	if h.failures >= breakAfter {
		h.until = now.Add(breakFor) // this call is the probe
	}
	h.dialing = &dialing{target: t, done: make(chan struct{})}
	p.work.Add(1)
	go p.dial(h, h.dialing)
	return nil, h.dialing, nil
}

// dial connects.
func (p *pool) dial(h *holder, d *dialing) {
	defer p.work.Done()
	ctx, cancel := context.WithTimeout(p.ctx, p.s.opts.Connect)
	defer cancel()
	s, err := p.s.connect(ctx, d.target)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s != nil {
		p.open[s] = true
	}
	current := h.dialing == d && p.servers[d.target.server.ID] == h && !p.closed
	if h.dialing == d {
		h.dialing = nil
	}
	switch {
	case err != nil:
		d.err = err
		if current {
			p.failed(h)
		}
	case current:
		h.session = s
	default: // the server has changed or was removed: waiting calls look again
		s.over = true
		p.shut(s)
	}
	close(d.done)
}

// failed counts a failure. The pool must be locked.
func (p *pool) failed(h *holder) {
	if h.failures++; h.failures >= breakAfter {
		h.until = p.s.opts.Now().Add(breakFor)
	}
}

// give returns a connection to the pool. It closes a failed one and counts the
// failure.
func (p *pool) give(s *session, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.busy--
	s.used = p.s.opts.Now()
	h := p.servers[s.target.server.ID]
	switch {
	case h == nil || h.session != s:
	case ok:
		h.failures, h.until = 0, time.Time{}
	default:
		p.failed(h)
		p.retire(h)
	}
	if s.over && s.busy == 0 {
		p.shut(s)
	}
}

// retire takes a server's connection out of use. The pool must be locked.
func (p *pool) retire(h *holder) {
	s := h.session
	if h.session = nil; s == nil || s.over {
		return
	}
	if s.over = true; s.busy == 0 {
		p.shut(s)
	}
}

// shut closes a connection. The pool must be locked.
func (p *pool) shut(s *session) {
	if !p.open[s] {
		return
	}
	delete(p.open, s)
	p.work.Add(1)
	go func() {
		defer p.work.Done()
		_ = s.sdk.Close() // an error does not matter here
	}()
}

// forget closes the connection to a deleted server.
func (p *pool) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.servers[id]; h != nil {
		p.retire(h)
		delete(p.servers, id)
	}
}

// renew makes the next call connect again, even if the circuit is open.
func (p *pool) renew(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.servers[id]; h != nil {
		p.retire(h)
		h.failures, h.until = 0, time.Time{}
	}
}

// sweep closes connections that have been idle for a while.
func (p *pool) sweep() {
	now := p.s.opts.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, h := range p.servers {
		if s := h.session; s != nil && s.busy == 0 && now.Sub(s.used) >= p.s.opts.Idle {
			p.retire(h)
		}
		if h.session == nil && h.dialing == nil && (h.failures == 0 || now.Sub(h.until) > time.Hour) {
			delete(p.servers, id)
		}
	}
}

// close closes all connections. It waits for calls in progress.
func (p *pool) close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	clear(p.servers)
	for s := range p.open {
		s.over = true
		p.shut(s)
	}
	p.mu.Unlock()
	p.work.Wait()
}
