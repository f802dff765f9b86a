package messaging_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// filesKind is the kind of a reference whose network hands out files.
const filesKind provider.Kind = "provider-test-files"

// depot is where the network keeps files. Each is fetched by a script.
type depot struct {
	testProvider

	mu      sync.Mutex
	files   map[string]func(ctx context.Context, w io.Writer, attempt int) error
	fetches map[string]int
	taken   [][]byte  // what was uploaded
	until   time.Time // until when that is kept
}

func newDepot() *depot {
	return &depot{
		testProvider: testProvider{newNetwork(), filesKind},
		files:        map[string]func(context.Context, io.Writer, int) error{}, fetches: map[string]int{},
	}
}

// put keeps a file that comes once the gate is closed; nil: at once.
func (d *depot) put(id string, body []byte, gate <-chan struct{}) {
	d.script(id, func(ctx context.Context, w io.Writer, _ int) error {
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		_, err := w.Write(body)
		return err
	})
}

func (d *depot) script(id string, fn func(ctx context.Context, w io.Writer, attempt int) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[id] = fn
}

func (d *depot) Open(_ context.Context, ref provider.Reference, _ provider.Inbox) (provider.Session, error) {
	return &depotSession{testSession{d.net, ref}, d}, nil
}

type depotSession struct {
	testSession
	depot *depot
}

func (s *depotSession) Fetch(ctx context.Context, m provider.Media, w io.Writer) (provider.File, error) {
	s.depot.mu.Lock()
	s.depot.fetches[m.ID]++
	attempt, fn := s.depot.fetches[m.ID], s.depot.files[m.ID]
	s.depot.mu.Unlock()
	if fn == nil {
		return provider.File{}, &provider.Rejected{Message: "no such file"}
	}
	return provider.File{}, fn(ctx, w, attempt)
}

// mediaFixture is a service that keeps files.
type mediaFixture struct {
	*fixture
	depot *depot
	lib   *media.Library
	dir   string
}

func setupMedia(t testing.TB, db *sqlx.DB, first *mediaFixture, idle bool, change ...func(*messaging.Options)) *mediaFixture {
	t.Helper()
	m := &mediaFixture{depot: newDepot(), dir: t.TempDir()}
	c := config{idle: idle}
	if first != nil {
		m.depot, m.dir = first.depot, first.dir
		c.clock = first.clock
	}
	folder, err := media.OpenFolder(m.dir)
	require.NoError(t, err)
	m.lib, err = media.New(folder, &media.Options{Secrets: []string{sealing}, NoPrograms: true})
	require.NoError(t, err)
	c.options = func(o *messaging.Options) {
		o.Media, o.Exclusive = m.lib, true
		o.Providers = append(o.Providers, m.depot)
		o.Allow = []string{"127.0.0.1"}
		for _, fn := range change {
			fn(o)
		}
	}
	m.fixture = setup(t, db, c)
	return m
}

// eachMedia runs a test on each database.
func eachMedia(t *testing.T, test func(t *testing.T, f *mediaFixture)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		test(t, setupMedia(t, db, nil, false))
	})
}

// picture is a PNG of a size.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// photo is a message of the contact 111 that is an image of the network's.
func photo(id, file string, body []byte, change ...func(*provider.Message)) *provider.Message {
	m := text(id, "111", "", change...)
	f := provider.Media{Kind: provider.Image, ID: file, Caption: "look", File: provider.File{MIME: "image/png"}}
	if body != nil {
		sum := sha256.Sum256(body)
		f.SHA256 = sum[:]
	}
	m.Content = f
	return m
}

// events are the ids of the messages that the sinks were told of, in order.
func (f *mediaFixture) events(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, e := range f.sink.all(t) {
		if e.Type == messaging.EventMessage {
			out = append(out, e.MessageID)
		}
	}
	return out
}

// payload is what the sinks were told of the message called image.
func (f *mediaFixture) payload(t testing.TB) messaging.MessagePayload {
	t.Helper()
	var p messaging.MessagePayload
	for _, e := range f.sink.all(t) {
		if e.MessageID == "image" && e.Type == messaging.EventMessage {
			require.NoError(t, json.Unmarshal(e.Payload, &p))
		}
	}
	return p
}

// served is what a link leads to.
func (f *mediaFixture) served(t testing.TB, link string) (int, []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	f.lib.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+link, nil))
	return w.Code, w.Body.Bytes()
}

func TestEventsWaitForTheFile(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body, gate := picture(t, 30, 20), make(chan struct{})
		f.depot.put("file", body, gate)
		feed, err := f.acc.Changes(t.Context(), ref, "")
		require.NoError(t, err)
		f.receive(t, ref, text("before", "111", "one"), photo("image", "file", body), text("after", "111", "two"))
		f.receive(t, ref, text("later", "111", "three"), text("other", "222", "elsewhere"), status("after", provider.StatusRead))
		require.Equal(t, []string{"before", "other"}, f.events(t), "what comes before it and other chats wait for nothing")
		shown, err := feed.Next(t.Context(), timeout)
		require.NoError(t, err)
		require.NotEmpty(t, shown, "the stream shows everything at once")
		require.Empty(t, f.message(t, ref, "111", "image").FileURL)

		close(gate)
		f.until(t, "all go out", func() bool { return len(f.events(t)) == 5 })
		require.Equal(t, []string{"before", "other", "image", "after", "later"}, f.events(t))
		require.Equal(t, []string{"message:DELIVERED", "status:READ"}, f.sink.of(t, "after"))
		p := f.payload(t)
		require.Nil(t, p.Error)
		require.Equal(t, "image/png", p.MimeType)
		require.EqualValues(t, len(body), p.FileLength)
		require.EqualValues(t, 30, p.Width)
		require.EqualValues(t, 20, p.Height)
		require.NotEmpty(t, p.JPEGThumbnail)
		require.Equal(t, "look", p.Caption)
		code, got := f.served(t, p.FileURL)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, body, got)
		require.Equal(t, p.FileURL, f.message(t, ref, "111", "image").FileURL)

		f.receive(t, ref, photo("image", "file", body), text("last", "111", "four"))
		require.Equal(t, "last", f.events(t)[5], "a repeat holds nothing back")
		require.Zero(t, count(t, f.db, `SELECT count(*) FROM messaging_deferred`))
		require.Equal(t, p.FileURL, f.message(t, ref, "111", "image").FileURL)
	})
}

func TestWaitingForAFileEnds(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body, gate := picture(t, 3, 2), make(chan struct{})
		f.depot.put("slow", body, gate)
		f.depot.put("slower", body, gate)
		f.receive(t, ref, photo("image", "slow", body), text("after", "111", "two"))
		f.clock.Advance(10 * time.Second)
		f.receive(t, ref, photo("second", "slower", body), text("last", "111", "three"))
		f.clock.Advance(10 * time.Second)
		f.until(t, "the first go out", func() bool { return len(f.events(t)) == 2 })
		require.Equal(t, []string{"image", "after"}, f.events(t), "the second waits for its own time")
		p := f.payload(t)
		require.Empty(t, p.FileURL)
		require.Equal(t, "media_pending", p.Error.Code)
		require.Equal(t, "media_pending", f.message(t, ref, "111", "image").Error.Code)

		feed, err := f.acc.Changes(t.Context(), ref, "")
		require.NoError(t, err)
		close(gate)
		f.until(t, "all go out", func() bool { return len(f.events(t)) == 4 })
		require.Equal(t, []string{"image", "after", "second", "last"}, f.events(t))
		f.until(t, "the file appears", func() bool { return f.message(t, ref, "111", "image").FileURL != "" })
		require.Nil(t, f.message(t, ref, "111", "image").Error)
		es, err := feed.Next(t.Context(), timeout)
		require.NoError(t, err)
		require.Equal(t, "message", es[0].Kind, "on the stream, too")
		require.Len(t, f.events(t), 4, "and makes no event")
	})
}

// TestFilesSurviveACrash stops a process between what came and its file.
func TestFilesSurviveACrash(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		first := setupMedia(t, testkit.Open(t, url), nil, true)
		ref := first.reference(t, filesKind)
		body, asked := picture(t, 3, 2), make(chan struct{})
		first.depot.script("file", func(ctx context.Context, w io.Writer, attempt int) error {
			if attempt == 1 {
				_, _ = w.Write(body[:10])
				close(asked)
				<-t.Context().Done() // the process is gone
				return ctx.Err()
			}
			_, err := w.Write(body)
			return err
		})
		first.receive(t, ref, photo("image", "file", body), text("after", "111", "two"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- first.svc.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			require.NoError(t, <-done)
		})
		<-asked
		require.Empty(t, first.events(t))

		second := setupMedia(t, testkit.Open(t, url), first, true)
		second.receive(t, ref, text("later", "111", "three"))
		require.Empty(t, second.events(t), "the order outlives the process")
		second.run(t)
		second.until(t, "all go out", func() bool {
			return count(t, second.db, `SELECT count(*) FROM messaging_deferred`) == 0
		})
		var order []string
		require.NoError(t, second.db.SelectContext(t.Context(), &order, `SELECT id FROM test_event ORDER BY at`))
		require.Len(t, order, 3)
		published := second
		if len(first.events(t)) > 0 { // it only hangs in the file: on a busy machine it may be the one that continues
			published = first
		}
		require.Equal(t, []string{"image", "after", "later"}, published.events(t))
		code, got := second.served(t, published.payload(t).FileURL)
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, body, got)
	})
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	body := []byte("%PDF-1.4 no picture at all")
	for name, c := range map[string]struct {
		fetch func(w io.Writer) error
		code  string
	}{
		"gone":        {func(io.Writer) error { return &provider.Rejected{Message: "expired"} }, "media_unavailable"},
		"other type":  {func(w io.Writer) error { _, err := w.Write(body); return err }, "media_mismatch"},
		"empty":       {func(io.Writer) error { return nil }, "media_mismatch"},
		"other bytes": {func(w io.Writer) error { _, err := w.Write([]byte("spoiled")); return err }, "media_mismatch"},
		"never right": {func(io.Writer) error {
			return &provider.Temporary{Err: provider.ErrMismatch, After: time.Millisecond}
		}, "media_mismatch"},
		"panic": {nil, "media_pending"},
	} {
		t.Run(name, func(t *testing.T) {
			eachMedia(t, func(t *testing.T, f *mediaFixture) {
				ref := f.reference(t, filesKind)
				f.depot.script("file", func(_ context.Context, w io.Writer, _ int) error { return c.fetch(w) })
				promised := body
				if name == "empty" {
					promised = nil
				}
				f.receive(t, ref, photo("image", "file", promised), text("after", "111", "two"))
				if name == "panic" {
					f.clock.Advance(20 * time.Second)
				}
				f.until(t, "it goes out", func() bool { return len(f.events(t)) == 2 })
				require.Equal(t, []string{"image", "after"}, f.events(t))
				p := f.payload(t)
				require.Empty(t, p.FileURL)
				require.Equal(t, c.code, p.Error.Code)
				require.Equal(t, c.code, f.message(t, ref, "111", "image").Error.Code)
			})
		})
	}
}

func TestAFileIsFetchedAgain(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body := picture(t, 3, 2)
		f.depot.script("file", func(_ context.Context, w io.Writer, attempt int) error {
			if attempt < 3 {
				_, _ = w.Write(body[:attempt])
				return &provider.Temporary{Err: errors.New("cut"), After: time.Millisecond}
			}
			_, err := w.Write(body)
			return err
		})
		f.depot.put("next", body, nil)
		f.receive(t, ref, photo("image", "file", body), photo("second", "next", body))
		f.until(t, "both go out", func() bool { return len(f.events(t)) == 2 })
		require.Equal(t, []string{"image", "second"}, f.events(t))
		_, got := f.served(t, f.payload(t).FileURL)
		require.Equal(t, body, got)
	})
}

func TestFilesGoWithTheirReference(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body := picture(t, 3, 2)
		f.depot.put("file", body, nil)
		f.receive(t, ref, photo("image", "file", body))
		f.until(t, "it is fetched", func() bool { return len(f.events(t)) == 1 })
		link := f.payload(t).FileURL
		require.NoError(t, f.acc.References().Delete(t.Context(), ref))
		f.until(t, "it is gone", func() bool {
			code, _ := f.served(t, link)
			return code == http.StatusNotFound
		})
		f.until(t, "nothing is left", func() bool { return count(t, f.db, `SELECT count(*) FROM messaging_media`) == 0 })
	})
}

// TestHistoryBringsFiles imports a message whose file comes later.
func TestHistoryBringsFiles(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body := picture(t, 3, 2)
		f.depot.put("file", body, nil)
		old := func(m *provider.Message) { m.Historical = true }
		f.receive(t, ref, text("image", "111", "", old, func(m *provider.Message) {
			m.Content = provider.Media{Kind: provider.Placeholder}
		}))
		f.receive(t, ref, photo("image", "file", body, old), text("now", "111", "hello"))
		require.Equal(t, []string{"now"}, f.events(t), "nothing waits for history")
		f.until(t, "it is fetched", func() bool { return f.message(t, ref, "111", "image").FileURL != "" })
		require.Len(t, f.events(t), 1)
	})
}

// TestMergedChatsWaitTogether merges a chat in which a file is waited for into
// another.
func TestMergedChatsWaitTogether(t *testing.T) {
	eachMedia(t, func(t *testing.T, f *mediaFixture) {
		ref := f.reference(t, filesKind)
		body, gate := picture(t, 3, 2), make(chan struct{})
		f.depot.put("file", body, gate)
		f.receive(t, ref, text("other", "222", "hello"), photo("image", "file", body, from("", "u.1")), text("after", "", "two", from("", "u.1")))
		require.Equal(t, []string{"other"}, f.events(t))
		f.receive(t, ref, text("both", "", "it is me", from("222", "u.1")))
		require.Equal(t, []string{"other"}, f.events(t), "what was two chats waits together")
		close(gate)
		f.until(t, "all go out", func() bool { return len(f.events(t)) == 4 })
		require.Equal(t, []string{"other", "image", "after", "both"}, f.events(t))
	})
}
