package graphtest

import (
	"cmp"
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

// Number is a phone number of the fake.
type Number struct {
	PhoneNumberID     string
	BusinessAccountID string
	DisplayNumber     string    // formatted for people; "": +1 555-078-3881
	VerifiedName      string    // "": Example Shop
	AccessToken       string    // for this number and account
	AllAccounts       bool      // the token is for all accounts of the business: debug_token lists none
	AppSecret         string    // signs callbacks
	VerifyToken       string    // of the handshake
	Templates         []string  // "name/language" of existing templates; nil: all exist
	TokenExpires      time.Time // zero: never
	Quality           string    // of the number: GREEN, YELLOW, RED; "": GREEN
	Limit             string    // "": TIER_2K
	Throughput        string    // STANDARD or HIGH; "": STANDARD
}

// Options configures a [Server]. Nil and the zero value mean the defaults.
type Options struct {
	Numbers []Number
	Pages   []Page
	// Callback is the address for callbacks; "": none until
	// [Server.SetCallback].
	Callback string
	// Statuses are posted automatically, in this order, after a message was
	// accepted: "sent", "delivered", "read", "played". nil: none.
	Statuses []string
	// Echoes are posted for what pages send.
	Echoes bool
	// Window makes free-form messages fail with 131047 unless the contact has
	// written within 24 hours.
	Window bool
	// Latency is the delay of each answer.
	Latency time.Duration
	// TemplatePage is the maximum number of templates on a page; 0: as many as
	// requested.
	TemplatePage int
	// HTTPClient posts the callbacks; nil: a client of its own.
	HTTPClient *http.Client
	// Logger logs callbacks that were refused and are repeated; nil:
	// slog.Default().
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Server is a fake of the Graph API. Its methods may be called concurrently.
type Server struct {
	// URL is the address of a server of [Start]: the base URL for a client.
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
	over context.Context // ends with Close, and with it all requests that hang or wait

	mu       sync.Mutex    // of all below, and of the state of the parts
	changed  chan struct{} // closed and replaced when something was recorded
	numbers  []Number
	requests []Request
	shown    []Message
	taken    map[string]Message   // by id, in both directions
	wrote    map[string]time.Time // by number and contact, when the contact last wrote
	read     map[string]bool      // messages marked read
	faults   []Fault
	latency  time.Duration
}

// New returns a fake that does not listen: its [Server.Handler] has to be
// served. Close ends its callbacks.
func New(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	s := &Server{
		opts:    *o,
		changed: make(chan struct{}),
		numbers: slices.Clone(o.Numbers),
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
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	s.over, s.stop = context.WithCancel(context.Background())
	s.post = newPoster(s.over, s.opts.HTTPClient, s.opts.Logger)
	s.post.url = o.Callback
	return s
}

// Start returns a fake that listens on a loopback port. Like httptest, it
// panics when it cannot listen.
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

// Close ends the server, its hanging requests and its callbacks.
func (s *Server) Close() {
	s.stop()
	if s.http != nil {
		_ = s.http.Close()
	}
	s.post.wait()
}

// AddNumber adds a number.
func (s *Server) AddNumber(l Number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbers = append(s.numbers, l)
}

// SetCallback changes the address for callbacks; "": none.
func (s *Server) SetCallback(url string) { s.post.set(url) }

// SetLatency changes the delay of each answer.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// number returns the number with a phone number id; "" is the first.
func (s *Server) numberOf(id string) (Number, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.numbers {
		if id == "" || l.PhoneNumberID == id {
			return l, true
		}
	}
	return Number{}, false
}

// account returns the numbers of a business account.
func (s *Server) account(id string) []Number {
	s.mu.Lock()
	defer s.mu.Unlock()
	var numbers []Number
	for _, l := range s.numbers {
		if l.BusinessAccountID == id {
			numbers = append(numbers, l)
		}
	}
	return numbers
}

// record runs fn under the lock and notifies goroutines that wait for a change.
func (s *Server) record(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits until ready returns true. It calls ready under the lock after
// each change.
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
