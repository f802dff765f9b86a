package main_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	loadChats   = 160                    // a killed node holds some of them back for a while
	loadWriters = 4                      // each writes in its own quarter of the chats
	writerPause = 30 * time.Millisecond  // between two callbacks of a writer
	senderPause = 50 * time.Millisecond  // between two sends of a sender
	sendRetry   = 100 * time.Millisecond // between two tries of one send
)

// load is traffic in both directions, and what was promised about it: what was
// answered with 200.
type load struct {
	env *env

	stop context.CancelFunc
	done sync.WaitGroup

	mu       sync.Mutex
	written  map[string][]string // message ids by contact, in their order
	posted   int                 // callbacks answered with 200, repeats too
	accepted map[string][]string // texts by contact, in their order
	tries    int                 // of sends
	wrong    []error
}

func contactOf(i int) string { return fmt.Sprintf("1650555%04d", 1000+i) }

// startLoad lets contacts write and messages be sent until it is stopped.
func startLoad(t *testing.T, r *env) *load {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &load{env: r, stop: stop, written: map[string][]string{}, accepted: map[string][]string{}}
	t.Cleanup(l.finish)
	for i := range loadChats { // opens the window of each chat
		require.NoError(t, l.write(t.Context(), contactOf(i)))
	}
	for w := range loadWriters {
		l.done.Go(func() { l.repeat(ctx, writerPause, w, l.write) })
		l.done.Go(func() { l.repeat(ctx, senderPause, w, l.send) })
	}
	return l
}

// finish stops the load and waits until what was begun is answered.
func (l *load) finish() {
	l.stop()
	l.done.Wait()
}

// repeat does something in the chats of worker w, again and again. What was
// begun is carried through although ctx ends.
func (l *load) repeat(ctx context.Context, pause time.Duration, w int, do func(context.Context, string) error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		through, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*answerWithin)
		err := do(through, contactOf(rand.IntN(loadChats/loadWriters)*loadWriters+w))
		cancel()
		if err != nil {
			l.mu.Lock()
			l.wrong = append(l.wrong, err)
			l.mu.Unlock()
			return
		}
	}
}

// write lets a contact write until it is answered with 200. Every tenth
// callback comes once more, as Meta's do.
func (l *load) write(ctx context.Context, contact string) error {
	in := graphtest.Inbound{From: contact, Name: "Contact " + contact, Text: "in"}
	id, err := l.env.graph.Write(ctx, in)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.written[contact] = append(l.written[contact], id)
	l.posted++
	l.mu.Unlock()
	if rand.IntN(10) > 0 {
		return nil
	}
	in.ID = id
	_, err = l.env.graph.Write(ctx, in)
	l.mu.Lock()
	l.posted++
	l.mu.Unlock()
	return err
}

// send sends a text with an idempotency key until it is answered with 200.
func (l *load) send(ctx context.Context, contact string) error {
	l.mu.Lock()
	text := fmt.Sprintf("out %s %d", contact, len(l.accepted[contact]))
	l.mu.Unlock()
	key := fmt.Sprintf("%s-%d", contact, rand.Int64())
	path := "/chats/send?wait=0"
	if rand.IntN(8) == 0 {
		path = "/chats/send?wait=1"
	}
	for {
		l.mu.Lock()
		l.tries++
		l.mu.Unlock()
		status, answer, err := l.env.try(ctx, http.MethodPost, path, l.env.sendBody(contact, text), "Idempotency-Key", key)
		switch {
		case err == nil && status == http.StatusOK:
			l.mu.Lock()
			l.accepted[contact] = append(l.accepted[contact], text)
			l.mu.Unlock()
			return nil
		case err == nil && status < 500 && status != http.StatusTooManyRequests:
			return fmt.Errorf("a send was answered %d: %v", status, answer)
		}
		retry := time.NewTimer(sendRetry)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}
