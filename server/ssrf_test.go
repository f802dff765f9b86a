package server_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// names is the name server of the tests.
var names *testkit.Names

// outside is all that is behind the guards of the tests' servers.
var outside = &wall{dialled: map[string][]string{}}

// wall remembers what was about to be dialled, by port, and lets only loopback
// be.
type wall struct {
	mu      sync.Mutex
	dialled map[string][]string
}

var errWall = errors.New("nothing but loopback is dialled in a test")

func (w *wall) see(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	port := fmt.Sprint(at.Port())
	w.dialled[port] = append(w.dialled[port], at.Addr().String())
	if !at.Addr().Unmap().IsLoopback() {
		return errWall
	}
	return nil
}

// at are the addresses that were to be dialled on a port.
func (w *wall) at(port string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialled[port])
}

// siege is a server, and what a caller of it would like to meet: a listener
// inside, on a port that nobody else has.
type siege struct {
	client
	open  client // of a server on the same database that may reach everything
	cloud int    // a reference of the Cloud API
	graph *graphtest.Server
	port  string // of the listener
	met   atomic.Int32
	front *httptest.Server // may be reached, and redirects inside
	turns []string         // where to
	flips int
}

// TestSSRF holds every door, by which a caller can name what the server
// connects to, against every way to name what is inside. Nothing inside is
// dialled, and who tries learns nothing of the network that the server is in.
func TestSSRF(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := besiege(t, db)
		for _, d := range doors {
			t.Run(d.name, func(t *testing.T) { d.try(s, t) })
			require.Zero(t, s.met.Load(), d.name)
		}
	})
}

func besiege(t *testing.T, db *sqlx.DB) *siege {
	t.Helper()
	s := &siege{}
	s.listen(t)
	s.redirect(t)
	var f fixture
	number := cloudNumber("970")
	s.graph = startGraph(t, &graphtest.Options{
		Numbers: []graphtest.Number{number}, Pages: []graphtest.Page{messengerPage()}, Callback: "http://trunkline.test/webhooks/provider",
		HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
	})
	keep := keeping(t)
	change := func(allow ...string) func(*server.Config) {
		return func(c *server.Config) {
			keep(c)
			c.Exclusive, c.GraphURL, c.WebhookAllow = false, s.graph.URL, allow
		}
	}
	f = working(t, setupOn(t, db, change(strings.TrimPrefix(s.front.URL, "http://"))))
	s.client = f.as(t, "ana")
	s.open = client{setupOn(t, db, change("0.0.0.0/0", "::/0")), s.token}
	s.cloud = s.reference(t, reference(number))
	s.graph.Templates.Put(named(number.BusinessAccountID))
	return s
}

// listen counts who gets through to the inside, by either kind of address.
func (s *siege) listen(t *testing.T) {
	t.Helper()
	// No other listener gets such a port, neither before nor later, and so nothing else
	// dials it: systems choose ports from 32768 on.
	var four net.Listener
	for port := 21000; four == nil && port < 22000; port++ {
		s.port = fmt.Sprint(port)
		four, _ = net.Listen("tcp4", "127.0.0.1:"+s.port)
	}
	require.NotNil(t, four, "all ports from 21000 to 21999 are taken")
	listeners := []net.Listener{four}
	if six, err := net.Listen("tcp6", "[::1]:"+s.port); err == nil { // else the machine has no IPv6
		listeners = append(listeners, six)
	}
	for _, l := range listeners {
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.met.Add(1)
				_ = c.Close()
			}
		}()
	}
}

// redirect starts what may be reached, and sends its visitors on.
func (s *siege) redirect(t *testing.T) {
	t.Helper()
	s.turns = []string{
		s.onPort("http://127.0.0.1/"), s.onPort("http://[::1]/"), s.onPort("http://0x7f.1/"), s.onPort("//localhost/"), s.onPort("http://loop.test/"),
		s.onPort("http://169.254.169.254/latest/meta-data"), "file:///etc/passwd", s.onPort("gopher://127.0.0.1/"),
	}
	s.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/to/%d", &n); err != nil || n >= len(s.turns) {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Location", s.turns[n])
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(s.front.Close)
}

// onPort is a URL on the port of the listener.
func (s *siege) onPort(url string) string {
	scheme, rest, _ := strings.Cut(url, "//")
	authority, path, _ := strings.Cut(rest, "/")
	user, host := "", authority
	if i := strings.LastIndex(authority, "@"); i >= 0 {
		user, host = authority[:i+1], authority[i+1:]
	}
	if i := strings.LastIndex(host, ":"); i > strings.LastIndex(host, "]") {
		host = host[:i]
	}
	return scheme + "//" + user + host + ":" + s.port + "/" + path
}

// written are URLs that say themselves that they lead inside.
func (s *siege) written() []string {
	out := make([]string, len(testkit.PrivateURLs))
	for i, url := range testkit.PrivateURLs {
		out[i] = s.onPort(url)
	}
	return out
}

// malformed are no URLs of the web.
func malformed() []string {
	return slices.DeleteFunc(slices.Clone(testkit.MalformedURLs), func(url string) bool { return url == "" })
}

// hidden are URLs that lead inside by a name or by a redirect.
func (s *siege) hidden(scheme string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(testkit.PrivateNames)) {
		out = append(out, s.onPort(scheme+"://"+name+"/"))
	}
	for n := range s.turns {
		out = append(out, s.turn(n))
	}
	return out
}

// turn is the address of a redirect.
func (s *siege) turn(n int) string { return fmt.Sprintf("%s/to/%d", s.front.URL, n) }

// flip is a URL that leads outside when its name is looked up first, and inside
// from then on.
func (s *siege) flip(scheme string) string {
	s.flips++
	name := fmt.Sprintf("flip%d-%s.test", s.flips, s.port)
	names.Rebind(name, testkit.PublicAddress, "127.0.0.1")
	return s.onPort(scheme + "://" + name + "/")
}

// some are one of each kind, for a door that opens slowly.
func (s *siege) some() []string {
	urls := []string{
		"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://127。0。0。1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
		"http://localhost/", "http://0.0.0.0/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/",
		"http://loop.test/", "http://meta.test/", "http://many.test/",
	}
	for i, url := range urls {
		urls[i] = s.onPort(url)
	}
	return append(urls, s.turn(0))
}

// addresses are those in a text.
var addresses = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`)

// unheard requires that nothing inside was dialled for a target, and that what
// the caller was told shows nothing that he did not say himself.
func (s *siege) unheard(t *testing.T, target string, published ...string) {
	t.Helper()
	require.Zero(t, s.met.Load(), target)
	for _, address := range s.dialled() {
		require.Equal(t, testkit.PublicAddress, address, target)
	}
	all := strings.ReplaceAll(strings.Join(published, "\n"), target, "")
	for _, address := range addresses.FindAllString(all, -1) {
		require.Contains(t, target, address, all)
	}
	for _, words := range []string{names.Address(), "::1", "fd00:", "dial tcp", "lookup ", "no such host", "connectex", errWall.Error(), "sqlx", "goroutine"} {
		if !strings.Contains(target, words) {
			require.NotContains(t, all, words, target)
		}
	}
}

// dialled are the addresses that were to be dialled on the listener's port.
func (s *siege) dialled() []string { return outside.at(s.port) }

// named requires a refusal that names a field.
func (s *siege) named(t *testing.T, target string, a answer, field string) {
	t.Helper()
	require.Equal(t, 422, a.Code, "%s: %s", target, a.Body.String())
	require.Contains(t, locations(a.problem(422, "validation")), field, target)
	s.unheard(t, target, a.Body.String())
}
