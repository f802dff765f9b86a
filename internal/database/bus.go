package database

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// A Remote receives notifications of all nodes until ctx ends. It calls notify with
// the payload, and with "" when it may have missed some.
type Remote func(ctx context.Context, notify func(payload string))

// bus distributes notifications. A notification means "look now" and may be lost:
// listeners also poll.
type bus struct {
	mu      sync.Mutex
	remote  Remote
	stop    context.CancelFunc
	topics  map[string]map[chan struct{}]bool
	pending map[string]bool // topics to send to other nodes
	id      string          // of this handle, in what it sends
	touch   func()          // is called when another node notifies

	expected map[string]int // topic → step of expectations
}

// notifyInterval is the minimum interval between notifications of other nodes, for
// all topics together.
const notifyInterval = 5 * time.Millisecond

// Attach makes db receive notifications of other nodes.
func Attach(ctx context.Context, db *sqlx.DB, r Remote) error {
	d, err := Of(ctx, db)
	if err != nil {
		return err
	}
	d.bus.mu.Lock()
	defer d.bus.mu.Unlock()
	d.bus.remote = r
	return nil
}

// Listen returns a channel that receives a value after a [DB.Notify] of topic, on
// this node or another, until ctx ends.
func (d *DB) Listen(ctx context.Context, topic string) <-chan struct{} {
	ch := make(chan struct{}, 1)
	d.bus.join(ctx, topic, ch)
	return ch
}

// join makes ch receive the notifications of topic until ctx ends.
func (b *bus) join(ctx context.Context, topic string, ch chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.topics == nil {
		b.topics = map[string]map[chan struct{}]bool{}
	}
	if b.topics[topic] == nil {
		b.topics[topic] = map[chan struct{}]bool{}
	}
	b.topics[topic][ch] = true
	if b.remote != nil && b.stop == nil {
		remote, stop := context.WithCancel(context.WithoutCancel(ctx))
		b.stop = stop
		go b.remote(remote, b.receive)
	}
	context.AfterFunc(ctx, func() { b.leave(topic, ch) })
}

// expectations are the waits between the looks for what a caller's transaction will
// have committed. After them the listeners poll, as always.
var expectations = []time.Duration{2 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond}

// expect notifies the listeners of topic on this node a few times from now on.
func (b *bus) expect(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.expected == nil {
		b.expected = map[string]int{}
	}
	_, running := b.expected[topic]
	b.expected[topic] = 0
	if !running {
		b.look(topic)
	}
}

// look schedules the next look. mu is held.
func (b *bus) look(topic string) {
	time.AfterFunc(expectations[b.expected[topic]], func() {
		b.notify(topic)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.expected[topic]++; b.expected[topic] < len(expectations) {
			b.look(topic)
		} else {
			delete(b.expected, topic)
		}
	})
}

// leave ends a subscription, and with the last one the remote listener.
func (b *bus) leave(topic string, ch chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.topics[topic], ch)
	if len(b.topics[topic]) == 0 {
		delete(b.topics, topic)
	}
	if len(b.topics) == 0 && b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// receive notifies the listeners of what another node has sent. What this node has
// sent they know.
func (b *bus) receive(payload string) {
	from, topic, _ := strings.Cut(payload, " ")
	if from != b.id {
		b.touch()
		b.notify(topic)
	}
}

// notify notifies the listeners of topic on this node; "" notifies all.
func (b *bus) notify(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t, chs := range b.topics {
		if topic != "" && t != topic {
			continue
		}
		for ch := range chs {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}

// Notify notifies the listeners of topic: those of this node at once, those of
// others within a few milliseconds. Call it after the commit.
func (d *DB) Notify(topic string) {
	d.dues.touch()
	d.bus.notify(topic)
	if d.Dialect != Postgres {
		return
	}
	b := &d.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	first := len(b.pending) == 0
	if b.pending == nil {
		b.pending = map[string]bool{}
	}
	b.pending[topic] = true
	if first {
		time.AfterFunc(notifyInterval, d.notify)
	}
}

// Channel is the PostgreSQL notification channel of all nodes. The payload is the id
// of the handle that sends it, a space, and the topic.
const Channel = "trunkline"

const notifySQL = `SELECT count(pg_notify($1, topic)) FROM unnest(CAST($2 AS TEXT[])) AS topics (topic)`

func (d *DB) notify() {
	d.bus.mu.Lock()
	var payloads []any
	for topic := range d.bus.pending {
		payloads = append(payloads, d.bus.id+" "+topic)
	}
	d.bus.pending = nil
	d.bus.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// A lost notification only delays work by a poll interval.
	_, _ = d.ExecContext(ctx, notifySQL, Channel, arrays(payloads, 1)[0])
}
