package graphtest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Line is a phone number that the fake knows.
type Line struct {
	PhoneNumberID     string
	BusinessAccountID string
	DisplayNumber     string    // as people read it; "": +1 555-078-3881
	VerifiedName      string    // "": Example Shop
	AccessToken       string    // may act for this line and account
	AllAccounts       bool      // the token is for all accounts of the business: debug_token names none
	AppSecret         string    // signs callbacks
	VerifyToken       string    // of the handshake
	Templates         []string  // "name/language" that exist; nil: all do
	TokenExpires      time.Time // zero: never
	Quality           string    // of the number: GREEN, YELLOW, RED; "": GREEN
	Limit             string    // "": TIER_2K
	Throughput        string    // STANDARD or HIGH; "": STANDARD
}

// Options configures a [Server]. Nil and the zero value mean the defaults.
type Options struct {
	Lines []Line
	Pages []Page
	// Callback is where callbacks are posted; "": nowhere, until
	// [Server.SetCallback].
	Callback string
	// Statuses are posted by themselves, in this order, after a message was
	// taken: "sent", "delivered", "read", "played". Nil: none.
	Statuses []string
	// Echoes are posted for what pages send.
	Echoes bool
	// Window makes free-form messages fail with 131047 unless the contact
	// wrote within 24 h.
	Window bool
	// Latency passes before each answer.
	Latency time.Duration
	// TemplatePage is the most templates of one page; 0: as many as are asked
	// for.
	TemplatePage int
	// HTTPClient posts the callbacks; nil: one of our own.
	HTTPClient *http.Client
	// Logger takes callbacks that were refused and are repeated; nil:
	// slog.Default().
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Server is the fake. Its methods may be called concurrently.
type Server struct {
	// URL is where a server of [Start] listens: the base URL for a client.
	URL string

	Pages     *Pages
	Templates *Templates
	Files     *Files

	messages *messageEndpoint
	accounts *accountEndpoint

	opts Options
	post *poster
	http *http.Server
	stop context.CancelFunc
	over context.Context // ends with Close; what hangs or waits lets go

	mu       sync.Mutex    // of all below, and of what the parts keep
	changed  chan struct{} // closed and replaced whenever something was recorded
	lines    []Line
	requests []Request
	shown    []Message
	taken    map[string]Message   // by id, those of both directions
	wrote    map[string]time.Time // by line and contact, when the contact last wrote
	read     map[string]bool      // messages marked read
	faults   []Fault
	latency  time.Duration
}

// New returns a fake that listens nowhere: serve its [Server.Handler]. Close
// ends its callbacks.
func New(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{
		opts:    *o,
		changed: make(chan struct{}),
		lines:   slices.Clone(o.Lines),
		taken:   map[string]Message{},
		wrote:   map[string]time.Time{},
		read:    map[string]bool{},
		latency: o.Latency,
	}
	s.Pages = &Pages{s, slices.Clone(o.Pages), map[string][]string{}, map[string][2]string{}, map[string]json.RawMessage{}}
	s.Templates = &Templates{fake: s}
	s.Files = &Files{s, map[string]*storedFile{}}
	s.messages = &messageEndpoint{s}
	s.accounts = &accountEndpoint{s, map[string]override{}, map[string]map[string]json.RawMessage{}}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	s.over, s.stop = context.WithCancel(context.Background())
	s.post = newPoster(s.over, s.opts.HTTPClient, s.opts.Logger)
	s.post.url = o.Callback
	return s
}

// Start returns a fake that listens on a loopback port. It panics when there
// is none, as httptest does.
func Start(o *Options) *Server {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic("graphtest: " + err.Error())
	}
	s := New(o)
	s.URL = "http://" + listener.Addr().String()
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.opts.Logger.Error("the fake stopped serving", slog.Any("error", err))
		}
	}()
	return s
}

// Close ends the server, what hangs in it, and its callbacks.
func (s *Server) Close() {
	s.stop()
	if s.http != nil {
		_ = s.http.Close()
	}
	s.post.wait()
}

// AddLine makes a further line known.
func (s *Server) AddLine(l Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
}

// SetCallback changes where callbacks are posted; "" for nowhere.
func (s *Server) SetCallback(url string) { s.post.set(url) }

// SetLatency changes what passes before each answer.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// line finds a line by its phone number id; "" is the first.
func (s *Server) line(id string) (Line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if id == "" || l.PhoneNumberID == id {
			return l, true
		}
	}
	return Line{}, false
}

// account finds the lines of a business account.
func (s *Server) account(id string) []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []Line
	for _, l := range s.lines {
		if l.BusinessAccountID == id {
			lines = append(lines, l)
		}
	}
	return lines
}

// record runs fn under the lock and wakes those who wait for a change.
func (s *Server) record(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits, without polling, for ready to hold. Ready runs under the lock.
func (s *Server) until(ctx context.Context, ready func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := ready(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
