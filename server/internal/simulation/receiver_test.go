package simulation_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// receiver is a web server that receives webhooks.
type receiver struct {
	w       *world
	address string // "10.0.0.1:80"
	server  *http.Server
	conns   chan net.Conn
	closed  chan struct{}

	mu       sync.Mutex
	got      []event
	attempts map[string]int      // by id of the event
	answered map[string]*process // by id of the event: the one that was told at once that it was taken
	repeated map[string]*process // by id of the event: the one that had been told so, when it came again
}

// event is an event as it first came.
type event struct {
	id, kind, text, direction, chat string
	reference                       int
	sequence                        int64
	at                              time.Time
	status                          string
}

// listen begins a receiver at an address, unless there is one.
func (w *world) listen(address string) {
	if w.receiverAt(address) != nil {
		return
	}
	r := &receiver{w: w, address: address, conns: make(chan net.Conn), closed: make(chan struct{}), attempts: map[string]int{}, answered: map[string]*process{}, repeated: map[string]*process{}}
	r.server = &http.Server{
		Handler: r, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Hour,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, processKey{}, c.(*link).p)
		},
	}
	go func() { _ = r.server.Serve(r) }()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receivers = append(w.receivers, r)
}

// accept takes a connection; false: the receiver has ended.
func (r *receiver) accept(c net.Conn) bool {
	select {
	case r.conns <- c:
		return true
	case <-r.closed:
		return false
	}
}

// Accept, Close and Addr make the receiver a net.Listener.
func (r *receiver) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

func (r *receiver) Close() error {
	select {
	case <-r.closed:
	default:
		close(r.closed)
	}
	return nil
}

func (r *receiver) Addr() net.Addr { return &net.TCPAddr{} }

// ServeHTTP takes an event and answers as the seed wants.
func (r *receiver) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	id := req.Header.Get("Webhook-Id")
	r.mu.Lock()
	r.attempts[id]++
	if p := r.answered[id]; p != nil {
		r.repeated[id] = p
	}
	d := r.w.draw("webhook", r.address, id, r.attempts[id])
	r.mu.Unlock()
	if !r.w.faulty() {
		d = nil
	}
	fault := d.upTo(100)
	switch {
	case fault < 10:
		rw.WriteHeader(http.StatusInternalServerError)
		return
	case fault < 14:
		rw.Header().Set("Retry-After", strconv.FormatInt(1+d.upTo(10), 10))
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	case fault < 18:
		panic(http.ErrAbortHandler)
	}
	r.take(id, req.Header, body)
	switch {
	case fault < 24: // it was taken, but its sender does not learn that
		panic(http.ErrAbortHandler)
	case fault < 28:
		pause(req.Context(), 1000*d.upTo(25))
	case fault < 40:
		pause(req.Context(), d.upTo(2000))
	default:
		r.mu.Lock()
		r.answered[id] = processOf(req.Context())
		r.mu.Unlock()
	}
	rw.WriteHeader(http.StatusOK)
}

func (r *receiver) take(id string, header http.Header, body []byte) {
	var payload struct {
		Mine   bool
		Text   string
		ChatID string
		Status string
	}
	if err := json.Unmarshal(body, &payload); err != nil {
		r.w.breach("a webhook is no JSON: %v", err)
	}
	a := event{id: id, kind: header.Get("X-Trunkline-Event"), text: payload.Text, direction: "in", chat: payload.ChatID, at: time.Now(), status: payload.Status}
	if payload.Mine {
		a.direction = "out"
	}
	a.reference, _ = strconv.Atoi(header.Get("X-Trunkline-Reference"))
	a.sequence, _ = strconv.ParseInt(header.Get("X-Trunkline-Sequence"), 10, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(r.got, func(b event) bool { return b.id == id }) {
		r.got = append(r.got, a)
	}
}

// texts are the texts of the messages that arrived, in their order, without those of
// one status.
func (r *receiver) texts(reference int, direction, without string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.got {
		if a.kind == "message" && a.reference == reference && a.direction == direction && a.status != without {
			out = append(out, a.text)
		}
	}
	return out
}

func (r *receiver) end() {
	_ = r.Close()
	_ = r.server.Close()
	rest(time.Second) // its handlers end
}
