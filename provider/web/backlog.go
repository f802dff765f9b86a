package web

import (
	"time"

	"go.mau.fi/whatsmeow"
)

// queueFull begins what whatsmeow says when more has come than its queue
// holds, 2,048 nodes: what comes then is handled in any order.
const queueFull = "Handler queue is full"

const (
	backlogPause = 500 * time.Millisecond // without an event: the queue has been worked through
	maxBacklog   = 20 * time.Second
)

// flooded waits until the queue has been worked through, and ends the
// connection before anything else is read from it: what was not acknowledged
// comes again on the next one, in its order. Whatsmeow's reader waits for it
// to return.
func (s *session) flooded(c *whatsmeow.Client) {
	before := s.handled.Load()
	for end := time.Now().Add(maxBacklog); time.Now().Before(end); {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(backlogPause):
		}
		now := s.handled.Load()
		if now == before {
			break
		}
		before = now
	}
	s.breakOff(c)
}
