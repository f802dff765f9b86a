package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// event is one of a stream.
type event struct{ Kind, ID, Data string }

func (e event) String() string { return e.Kind + " " + e.ID + " " + e.Data }

// text is that of the message which the event is about.
func (e event) text() string {
	var m struct{ Text string }
	_ = json.Unmarshal([]byte(e.Data), &m)
	return m.Text
}

// stream reads events as they come.
type stream struct {
	events   chan event
	comments chan string
	resp     *http.Response
	cancel   context.CancelFunc
}

// follow opens a stream over a real connection.
func (c client) follow(t *testing.T, url, query string, header ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/chats/stream"+query, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // read closes it
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	s := &stream{make(chan event, 1000), make(chan string, 100), resp, cancel}
	go s.read()
	return s
}

// read parses the stream until it ends, then closes the channels.
func (s *stream) read() {
	defer close(s.events)
	defer close(s.comments)
	defer s.resp.Body.Close()
	var e event
	lines := bufio.NewScanner(s.resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			if e.Kind != "" { // else it says nothing but where the stream stands
				s.events <- e
			}
			e = event{}
		case name == "event":
			e.Kind = value
		case name == "id":
			e.ID = value
		case name == "data":
			e.Data = value
		case strings.HasPrefix(line, ":"):
			s.comments <- line
		}
	}
}

// ready waits for the beginning of the stream.
func (s *stream) ready(t *testing.T) *stream {
	t.Helper()
	require.Equal(t, ": ready", <-s.comments)
	return s
}

// next waits for the next event of a kind.
func (s *stream) next(t *testing.T, kind string) event {
	t.Helper()
	for {
		select {
		case e, ok := <-s.events:
			require.True(t, ok, "the stream has ended")
			if e.Kind == kind {
				return e
			}
		case <-time.After(eventually):
			require.Fail(t, "nothing came", "waiting for %s", kind)
		}
	}
}

// ended waits for the end of the stream.
func (s *stream) ended(t *testing.T) {
	t.Helper()
	deadline := time.After(eventually)
	for {
		select {
		case _, open := <-s.events:
			if !open {
				return
			}
		case <-deadline:
			require.Fail(t, "the stream goes on")
		}
	}
}

// listening serves a fixture on a real port.
func listening(t *testing.T, f fixture) string {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections) // streams last
	return srv.URL
}

// TestStream follows two conversations.
func TestStream(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		url := listening(t, f)
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref, second, other := ana.sandbox(t), ana.sandbox(t), ben.sandbox(t)
		all := ana.follow(t, url, "").ready(t)
		one := ana.follow(t, url, fmt.Sprintf("?reference=%d", second)).ready(t)
		ben.write(t, other, "ana", "for ben")
		id := ana.write(t, ref, "ana", "hello\nthere \u2028 👋")
		ana.write(t, second, "carl", "second reference")
		e := all.next(t, "message")
		require.Equal(t, "hello\nthere \u2028 👋", e.text())
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(e.Data), &record))
		require.Equal(t, id, record["id"])
		require.Equal(t, "ana@sandbox", record["chatId"])
		require.Equal(t, "in", record["direction"])
		require.Equal(t, "second reference", all.next(t, "message").text())
		require.Equal(t, "second reference", one.next(t, "message").text())

		ana.send(t, ref, "answer")
		require.Equal(t, "answer", all.next(t, "message").text())
		require.Contains(t, all.next(t, "status").Data, `"status":"DELIVERED"`)
		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ana","tags":["vip"]}`, ref)).json(200)
		require.Contains(t, all.next(t, "chat").Data, `"tags":["vip"]`)
		ana.call(t, "POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		require.Contains(t, all.next(t, "session").Data, `"state":"LOGGED_OUT"`)
		ana.write(t, second, "carl", "last")
		require.Equal(t, "last", one.next(t, "message").text(), "the events of the other reference do not appear")
		require.Equal(t, "last", all.next(t, "message").text())
	})
}

// TestStreamResumes breaks off after each event and continues where it was.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		url := listening(t, f)
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		s := ana.follow(t, url, "").ready(t)
		ana.write(t, ref, "ana", "0")
		last := s.next(t, "message")
		s.cancel()
		for i := 1; i < 12; i++ {
			ana.write(t, ref, "ana", fmt.Sprint(i))
		}
		for i := 1; i < 12; i++ {
			query, header := "?after="+last.ID, []string{}
			if i%2 == 0 { // the header wins
				query, header = "?after=nonsense", []string{"Last-Event-ID", last.ID}
			}
			s := ana.follow(t, url, query, header...)
			e := s.next(t, "message")
			require.Equal(t, fmt.Sprint(i), e.text(), "no gap and no repeat")
			require.NotEqual(t, last.ID, e.ID)
			last = e
			s.cancel()
		}
		for _, bad := range []string{"nonsense", "%00", "AAAA", strings.Repeat("x", 201)} {
			p := ana.call(t, "GET", "/chats/stream?after="+bad, "").problem(422, "validation")
			require.Equal(t, "query.after", p.Errors[0].Location)
		}
		p := ana.call(t, "GET", "/chats/stream", "", "Last-Event-ID", "nonsense").problem(422, "validation")
		require.Equal(t, "header.Last-Event-ID", p.Errors[0].Location)
		ana.call(t, "GET", fmt.Sprintf("/chats/stream?reference=%d", ref+999), "").problem(404, "not_found")
		f.as(t, "ben").call(t, "GET", fmt.Sprintf("/chats/stream?reference=%d", ref), "").problem(404, "not_found")
	})
}

// TestStreamResync is told to fetch again after a day.
func TestStreamResync(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		c := &clock{}
		f := working(t, setupOn(t, db, func(cfg *server.Config) { cfg.Now = c.now }))
		url := listening(t, f)
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		s := ana.follow(t, url, "").ready(t)
		ana.write(t, ref, "ana", "old")
		last := s.next(t, "message")
		s.cancel()
		c.pass(11 * time.Hour) // a token lasts for twelve
		require.Equal(t, ": ready", <-ana.follow(t, url, "?after="+last.ID).comments)
		c.pass(14 * time.Hour)
		ana.token = f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).json(200)["token"].(string)
		s = ana.follow(t, url, "?after="+last.ID)
		e := s.next(t, "resync")
		require.JSONEq(t, `{}`, e.Data)
		ana.write(t, ref, "ana", "new")
		next := s.next(t, "message")
		require.Equal(t, "new", next.text())
		require.Equal(t, next.text(), ana.follow(t, url, "?after="+e.ID).next(t, "message").text(), "the id of a resync is a position")
	})
}

// TestManyFollowers gives everybody everything in the same order.
func TestManyFollowers(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		const followers, writers, each = 40, 4, 10
		url := listening(t, f)
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		streams := make([]*stream, followers)
		for i := range streams {
			streams[i] = ana.follow(t, url, "").ready(t)
		}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					ana.write(t, ref, fmt.Sprintf("contact%d", w), fmt.Sprintf("%d", i))
				}
			})
		}
		wg.Wait()
		var want []string
		for i, s := range streams {
			var got []string
			for range writers * each {
				e := s.next(t, "message")
				got = append(got, e.String())
			}
			if i == 0 {
				want = got
			}
			require.Equal(t, want, got)
		}
	})
}

// TestStreamEnds when its reader may not read any more, and when the server
// drains.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, nil)
	r := run(t, f, server.Listeners{})
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	one, two := ana.follow(t, "http://"+r.addr, "").ready(t), ben.follow(t, "http://"+r.addr, "").ready(t)
	db.MustExec(`UPDATE auth_user SET owner = 0, permissions = 'chats.send' WHERE email = 'ana@example.org'`)
	one.ended(t)
	ref := ben.sandbox(t)
	ben.write(t, ref, "ana", "still here")
	require.Equal(t, "still here", two.next(t, "message").text())
	r.stop()
	two.ended(t)
	require.NoError(t, <-r.done)
	require.Contains(t, f.log.String(), `"msg":"drained"`)
	require.NotContains(t, f.log.String(), "cut off", "a stream does not hold up the drain")
}

// TestHeartbeat keeps a quiet stream open.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, nil)
		ana := f.as(t, "ana")
		ctx, leave := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, "GET", "/chats/stream", nil)
		req.Header.Set("Authorization", "Bearer "+ana.token)
		w, left := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(left)
			f.ServeHTTP(w, req)
		}()
		<-time.After(59 * time.Second)
		leave()
		<-left
		comments := regexp.MustCompile(`(?m)^:.*$`).FindAllString(w.Body.String(), -1)
		require.Equal(t, []string{": ready", ": alive", ": alive", ": alive"}, comments, "every 15 s")
	})
}

// TestStreamOfADeletedReference continues for the others.
func TestStreamOfADeletedReference(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := working(t, setupOn(t, db, nil))
		url := listening(t, f)
		ana := f.as(t, "ana")
		gone, stays := ana.sandbox(t), ana.sandbox(t)
		s := ana.follow(t, url, "").ready(t)
		ana.write(t, gone, "ana", "one")
		last := s.next(t, "message")
		ana.erase(t, fmt.Sprintf("/reference/%d", gone))
		ana.write(t, stays, "ana", "two")
		require.Equal(t, "two", s.next(t, "message").text())
		require.Equal(t, "two", ana.follow(t, url, "?after="+last.ID).next(t, "message").text(), "its events' ids are positions still")
	})
}

// TestStreamHead has no body, and leaves the connection to the next request.
func TestStreamHead(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	c := dial(t, strings.TrimPrefix(listening(t, f), "http://"), fmt.Sprintf(
		"HEAD /chats/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\nGET /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", ana.token))
	answers, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(answers), "text/event-stream")
	require.Contains(t, string(answers), `"status":"ok"`)
}
