package tcpline_test

import (
	"encoding/json"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/examples/ownprovider/tcpline"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

// TestConformance is all that a kind of line has to pass.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Harness{
		New: func(t *testing.T) providertest.Setup {
			g := listen(t)
			return providertest.Setup{
				Provider:  tcpline.Provider{},
				Reference: provider.Reference{ID: 1, Name: "Gateway", Settings: provider.Settings{"gateway": g.addr}},
				Shown:     g.shown, Fail: g.fail, Say: g.say,
			}
		},
		ChatIDs: []string{"ana", " Bob7 "},
		Junk:    []string{"", "ana lima", "ána", "ana@sandbox", "a\x00"},
	})
}

// gateway is a peer that keeps what it is sent.
type gateway struct {
	addr string

	mu    sync.Mutex
	conn  net.Conn
	up    chan struct{} // closed when a client has connected
	seen  map[string]bool
	texts []string
	fault providertest.Fault
}

type frame struct{ ID, From, To, Text, Ack, Error string }

func listen(t *testing.T) *gateway {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	g := &gateway{addr: l.Addr().String(), seen: map[string]bool{}, up: make(chan struct{})}
	go func() {
		for first := true; ; first = false {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			g.conn = conn
			g.mu.Unlock()
			if first {
				close(g.up)
			}
			go g.serve(conn)
		}
	}()
	return g
}

func (g *gateway) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // it is over
	for in := json.NewDecoder(conn); ; {
		var f frame
		if in.Decode(&f) != nil {
			return
		}
		if f.ID != "" && !g.take(conn, f) {
			return
		}
	}
}

// take keeps a message once, and answers as the fault says; false: the
// connection is to end.
func (g *gateway) take(conn net.Conn, f frame) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	fault := g.fault
	g.fault = ""
	answer := map[string]string{"ack": f.ID}
	switch fault {
	case providertest.Unreachable:
		answer["error"] = "unknown"
	case providertest.Refused:
		answer["error"] = "spam"
	case providertest.Hanging:
		return true
	default:
		if !g.seen[f.ID] {
			g.texts = append(g.texts, f.Text)
		}
		g.seen[f.ID] = true
	}
	return fault != providertest.Lost && json.NewEncoder(conn).Encode(answer) == nil
}

func (g *gateway) shown() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.texts...)
}

// fail makes the next message meet a fault, if this network has it.
func (g *gateway) fail(f providertest.Fault) bool {
	switch f {
	case providertest.Unreachable, providertest.Refused, providertest.Lost, providertest.Hanging:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.fault = f
		return true
	}
	return false
}

// say lets the contact write.
func (g *gateway) say(t *testing.T, text string) {
	<-g.up
	g.mu.Lock()
	defer g.mu.Unlock()
	require.NoError(t, json.NewEncoder(g.conn).Encode(map[string]string{"id": "1", "from": "ana", "text": text}))
}
