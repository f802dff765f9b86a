package webtest

import (
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
	// Logger takes, at the debug level, tag and id of what comes and goes; nil:
	// slog.Default().
	Logger *slog.Logger
	// ManyPreKeys makes new devices upload 812 one-time keys, as the network
	// does. Otherwise they are told that the server has one, and upload 50:
	// making them is most of what linking costs.
	ManyPreKeys bool
}

// Server is the fake. Its methods may be called concurrently.
type Server struct {
	log      *slog.Logger
	manyKeys bool
	listener net.Listener
	http     *http.Server
	static   *keys.KeyPair // of the Noise handshake
	chain    []byte        // certificates of static
	ca       []byte        // DER
	over     context.Context
	stop     context.CancelFunc

	mu        sync.Mutex
	changed   bell
	phones    map[string]*Phone // by number
	lids      map[string]*Phone
	groups    map[string]*group // by the user part of their id
	invites   map[string]*group // by code
	pending   map[string]*conn  // waiting to be paired, by QR reference
	codes     map[string]*codePairing
	conns     map[*conn]struct{}
	files     map[string]*file // by path
	filesFail []int            // statuses of the next requests for media
	unknown   []string
	conflicts []*Conflict
	refusals  []Refusal
	deaf      bool
	intercept func(*Device, *node) bool
	ids       int
	live      int // devices that are logged in
}

// Start returns a fake that listens on a loopback port, and makes whatsmeow
// trust it. It panics when there is no port, as httptest does.
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
		files:   map[string]*file{},
	}
	if s.log == nil {
		s.log = slog.Default()
	}
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
		NextProtos:   []string{"http/1.1"}, // HTTP/2 has no websocket upgrade that whatsmeow knows
	})
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", s.serveSocket)
	mux.HandleFunc("/mms/", s.serveUpload)
	mux.HandleFunc("GET "+filePath, s.serveDownload)
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // handshakes of clients that trust another server
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the fake stopped serving", slog.Any("error", err))
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

// Live is the number of devices that are logged in.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// AwaitLive waits until n devices at least are logged in.
func (s *Server) AwaitLive(ctx context.Context, n int) error {
	if err := s.until(ctx, &s.changed, func() bool { return s.live >= n }); err != nil {
		return fmt.Errorf("webtest: %d of %d devices are logged in: %w", s.Live(), n, err)
	}
	return nil
}

// DropAll cuts every connection without a word, as a network that fails.
func (s *Server) DropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.drop()
	}
}

// Unknown returns what clients sent that the fake does not understand, and what
// went wrong in the fake itself. A test of a client should find it empty.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// strange notes what was not understood.
func (s *Server) strange(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, fmt.Sprintf(format, args...))
}

// id makes an id of the server's. s.mu is held.
func (s *Server) id() string {
	s.ids++
	return fmt.Sprintf("%d.%d-%d", s.ids>>16, s.ids&0xffff, s.ids)
}

// newID makes an id of the server's.
func (s *Server) newID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id()
}
