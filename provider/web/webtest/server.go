package webtest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/util/keys"
)

// Options configures a [Server]. Nil and the zero value mean the defaults.
type Options struct {
	// Logger gets the tag and id of each node at the debug level; nil:
	// slog.Default().
	Logger *slog.Logger
	// ManyPreKeys makes new devices upload 812 one-time keys, as the network
	// does. By default the server claims to have one, and devices upload 50.
	// Generating the keys takes most of the time of linking.
	ManyPreKeys bool
}

// Server is a fake WhatsApp Web server. Its methods may be called concurrently.
type Server struct {
	log      *slog.Logger
	manyKeys bool
	listener net.Listener
	http     *http.Server
	static   *keys.KeyPair // of the Noise handshake
	chain    []byte        // certificates of static
	ca       []byte        // DER
	media    *MediaHost
	over     context.Context // ends with the server
	stop     context.CancelFunc

	mu      sync.Mutex
	changed bell
	phones  map[string]*Phone // by number
	lids    map[string]*Phone
	groups  map[string]*group // by the user part of their id
	invites map[string]*group // by code
	pending map[string]*conn  // waiting to be paired, by QR reference
	codes   map[string]*codePairing
	conns   map[*conn]struct{}

	unknown   []string
	conflicts []*Conflict
	refusals  []Refusal
	deaf      bool
	intercept func(*Device, *node) bool
	ids       int
	live      int // devices that are logged in
}

// Start returns a server that listens on a loopback port, and makes whatsmeow
// trust it. Like httptest, it panics when it cannot listen.
func Start(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{
		log: o.Logger, manyKeys: o.ManyPreKeys,
		static:  keys.NewKeyPair(),
		phones:  map[string]*Phone{},
		lids:    map[string]*Phone{},
		groups:  map[string]*group{},
		invites: map[string]*group{},
		pending: map[string]*conn{},
		codes:   map[string]*codePairing{},
		conns:   map[*conn]struct{}{},
		media:   &MediaHost{files: map[string]*file{}},
	}
	s.log = cmp.Or(s.log, slog.Default())
	s.over, s.stop = context.WithCancel(context.Background())
	Trust(root().Pub)
	if err := s.listen(); err != nil {
		panic("webtest: " + err.Error())
	}
	return s
}

func (s *Server) listen() error {
	chain, err := signChain(root(), s.static)
	if err != nil {
		return err
	}
	s.chain = chain
	cert, err := selfSigned()
	if err != nil {
		return err
	}
	s.ca = cert.Certificate[0]
	s.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{cert},
		NextProtos:   []string{"http/1.1"}, // whatsmeow does not support websockets over HTTP/2
	})
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", s.serveSocket)
	mux.HandleFunc("/mms/", s.media.serveUpload)
	mux.HandleFunc("GET "+filePath, s.media.serveDownload)
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // failed handshakes of clients that trust another server
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the server stopped", slog.Any("error", err))
		}
	}()
	return nil
}

// Close ends the server and every connection to it.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close()
	s.DropAll()
}

// Live returns the number of devices that are logged in.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// AwaitLive waits until at least n devices are logged in.
func (s *Server) AwaitLive(ctx context.Context, n int) error {
	if err := s.until(ctx, &s.changed, func() bool { return s.live >= n }); err != nil {
		return fmt.Errorf("webtest: %d of %d devices are logged in: %w", s.Live(), n, err)
	}
	return nil
}

// DropAll closes every connection without notice, as a network failure does.
func (s *Server) DropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.drop()
	}
}

// Unknown returns what clients sent that the server does not support, and errors
// of the server itself. A test of a client should find it empty.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// unsupported records what the server does not support, for [Server.Unknown].
func (s *Server) unsupported(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, fmt.Sprintf(format, args...))
}

// id returns a new id of the server. s.mu is held.
func (s *Server) id() string {
	s.ids++
	return fmt.Sprintf("%d.%d-%d", s.ids>>16, s.ids&0xffff, s.ids)
}

// newID returns a new id of the server.
func (s *Server) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id()
}

// bell notifies goroutines that wait for a change. The server's lock guards it.
type bell struct{ rung chan struct{} }

func (b *bell) ring() {
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

func (b *bell) wait() <-chan struct{} {
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// until waits until ready returns true. It calls ready under the server's lock,
// and again each time b rings.
func (s *Server) until(ctx context.Context, b *bell, ready func() bool) error {
	for {
		s.mu.Lock()
		if ready() {
			s.mu.Unlock()
			return nil
		}
		rung := b.wait()
		s.mu.Unlock()
		select {
		case <-rung:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
