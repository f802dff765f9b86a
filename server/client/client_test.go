package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/contract"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/client"
)

// document reads the OpenAPI document of the repository.
func document(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "openapi.json"))
	require.NoError(t, err)
	return b
}

// serve runs a server, whose answers are held to the document.
func serve(t *testing.T) http.Handler {
	t.Helper()
	folder, err := media.OpenFolder(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close()) })
	s, err := server.New(t.Context(), server.Config{
		DB: testkit.Open(t, testkit.SQLiteURL(t)), Secrets: []server.Secret{"a secret for tests of 32 bytes and more"},
		Media: folder, Exclusive: true, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	d, err := contract.Read(document(t))
	require.NoError(t, err)
	breaches := &contract.Breaches{}
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
		require.NoError(t, breaches.Err())
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.Serve(w, r, s, func(e contract.Exchange) { breaches.Add(e, d.Check(e)) })
	})
}

// over is a client of a handler over a network.
func over(t *testing.T, h http.Handler, o *client.Options) *client.Client {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	c, err := client.New(web.URL, o)
	require.NoError(t, err)
	return c
}

// signUp makes an account and a client with its token.
func signUp(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	s, err := c.Auth.SignUp(t.Context(), client.SignUpRequest{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	require.NoError(t, err)
	require.Equal(t, "ana@example.org", s.User.Email)
	return c.WithToken(s.Token)
}

// sandbox adds a sandbox line.
func sandbox(t *testing.T, c *client.Client) int64 {
	t.Helper()
	ref, err := c.Messaging.CreateReference(t.Context(), client.CreateReferenceRequest{Name: "Shop", Type: "provider-sandbox"})
	require.NoError(t, err)
	return ref.ID
}

// text is a message to the contact ana.
func text(ref int64, words string) client.SendRequest {
	return client.SendRequest{Reference: ref, ChatID: "ana", Message: client.Content{Type: "text", Text: words}}
}

// TestClient plays the same over a network and without one.
func TestClient(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, h http.Handler) *client.Client{
		"New": func(t *testing.T, h http.Handler) *client.Client { return over(t, h, nil) },
		"In":  func(_ *testing.T, h http.Handler) *client.Client { return client.In(h, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := signUp(t, open(t, serve(t)))
			ref := sandbox(t, c)
			for _, from := range []string{"ana", "ben", "eva"} {
				_, err := c.Sandbox.Write(t.Context(), ref, client.WriteRequest{From: from, Type: "text", Text: "Hello"})
				require.NoError(t, err)
			}

			sent, err := c.Messaging.Send(t.Context(), text(ref, "Hi"), nil)
			require.NoError(t, err)
			require.Equal(t, "Hi", sent.Message.Text)
			require.WithinDuration(t, time.Now(), sent.Message.MessageTimestamp.Time, time.Minute)
			check, err := c.Messaging.Send(t.Context(), text(ref, "Hi"), &client.SendParams{DryRun: new(int64(1))})
			require.NoError(t, err)
			require.True(t, *check.Allowed)
			require.Nil(t, check.Message)

			var chats []string
			for chat, err := range c.Messaging.AllChats(t.Context(), ref, &client.ChatsParams{Limit: new(int64(1))}) {
				require.NoError(t, err)
				chats = append(chats, strings.TrimSuffix(chat.ID, "@sandbox"))
			}
			require.ElementsMatch(t, []string{"ana", "ben", "eva"}, chats)
			var words []string
			for m, err := range c.Messaging.AllMessages(t.Context(), ref, "ana", &client.MessagesParams{Limit: new(int64(1))}) {
				require.NoError(t, err)
				words = append(words, m.Text)
			}
			require.Equal(t, []string{"Hi", "Hello"}, words)

			var file bytes.Buffer
			require.NoError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 2, 2))))
			kept, err := c.Messaging.SaveMedia(t.Context(), ref, "dot.png", "image/png", &file)
			require.NoError(t, err)
			_, err = c.Messaging.Send(t.Context(), client.SendRequest{
				Reference: ref, ChatID: "ana", Message: client.Content{Type: "image", MediaID: kept.MediaID, Caption: "A dot"},
			}, nil)
			require.NoError(t, err)
			refusals(t, c, ref)
		})
	}
}

// refusals looks at errors.
func refusals(t *testing.T, c *client.Client, ref int64) {
	t.Helper()
	var e *client.Error
	_, err := c.Messaging.Reference(t.Context(), ref+1000)
	require.ErrorAs(t, err, &e)
	require.Equal(t, client.CodeNotFound, e.Code)
	require.Equal(t, 404, e.Status)
	require.NotEmpty(t, e.RequestID)

	_, err = c.Messaging.UpdateReference(t.Context(), ref, client.UpdateReferenceRequest{Name: new("")})
	require.ErrorAs(t, err, &e)
	require.Equal(t, client.CodeValidation, client.CodeOf(err))
	require.Equal(t, "body.name", e.Fields[0].Location)
	require.ErrorContains(t, err, "422 validation")

	_, err = c.WithToken("").Messaging.References(t.Context(), nil)
	require.Equal(t, client.CodeUnauthorized, client.CodeOf(err))
	for _, err := range c.WithToken("").Messaging.Follow(t.Context(), nil) {
		require.Equal(t, client.CodeUnauthorized, client.CodeOf(err))
	}
	for _, err := range c.WithToken("").Messaging.AllChats(t.Context(), ref, nil) {
		require.Equal(t, client.CodeUnauthorized, client.CodeOf(err))
	}
	out, err := c.MCP.Execute(t.Context(), client.ExecuteRequest{Function: "nothing"})
	require.NoError(t, err, "a function that fails says so itself")
	require.False(t, out.Success)
	require.Equal(t, "unknown_function", out.Error.Code)
}

// brittle breaks after the first event that is written to it. What is written
// first, it tells.
type brittle struct {
	http.ResponseWriter
	began  func()
	broken bool
}

func (b *brittle) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *brittle) Write(p []byte) (int, error) {
	if b.broken {
		return 0, http.ErrAbortHandler
	}
	b.began()
	b.broken = bytes.Contains(p, []byte("event:"))
	return b.ResponseWriter.Write(p)
}

// TestFollow has a stream break after each piece: nothing is missing, and
// nothing comes twice.
func TestFollow(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, h http.Handler, o *client.Options) *client.Client{
		"New": over,
		"In":  func(_ *testing.T, h http.Handler, o *client.Options) *client.Client { return client.In(h, o) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, streams := serve(t), make(chan struct{}, 100)
			c := signUp(t, open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/chats/stream" {
					w = &brittle{ResponseWriter: w, began: sync.OnceFunc(func() { streams <- struct{}{} })}
				}
				h.ServeHTTP(w, r)
			}), &client.Options{Wait: time.Millisecond}))
			ref := sandbox(t, c)
			write := func(words string) {
				_, err := c.Sandbox.Write(t.Context(), ref, client.WriteRequest{From: "ana", Type: "text", Text: words})
				require.NoError(t, err)
			}
			write("before it began")
			var words []string
			go func() {
				<-streams // it has its place among the events
				write("one")
			}()
			for e, err := range c.Messaging.Follow(t.Context(), &client.FollowParams{Reference: ref}) {
				require.NoError(t, err)
				if e.Type != "message" {
					continue
				}
				m, err := e.Message()
				require.NoError(t, err)
				words = append(words, m.Text)
				switch m.Text {
				case "one":
					write("two")
					write("three")
				case "three":
					write("four")
				}
				if m.Text == "four" {
					break
				}
			}
			require.Equal(t, []string{"one", "two", "three", "four"}, words)
			require.NotEmpty(t, streams, "it has been continued")
		})
	}
}

// unsure loses answers, or refuses, as it is told.
type unsure struct {
	h    http.Handler
	then func(w http.ResponseWriter, r *http.Request, n int) bool // whether the request goes on to h

	mu sync.Mutex
	n  map[string]int
}

func (u *unsure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.n[r.URL.Path]++
	n := u.n[r.URL.Path]
	u.mu.Unlock()
	if u.then(w, r, n) {
		u.h.ServeHTTP(w, r)
	}
}

// TestRepeats loses answers and refuses for the time being.
func TestRepeats(t *testing.T) {
	t.Parallel()
	u := &unsure{h: serve(t), n: map[string]int{}}
	u.then = func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == "/chats/send" && n == 1: // the answer is lost
			u.h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/chats/send" && n == 3, r.URL.Path == "/reference" && n == 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/sandbox/1/messages" && n == 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case r.URL.Path == "/reference/list":
			w.WriteHeader(http.StatusBadGateway)
		default:
			return true
		}
		return false
	}
	c := signUp(t, over(t, u, &client.Options{Wait: time.Millisecond}))
	ref := sandbox(t, c)
	require.EqualValues(t, 1, ref)
	_, err := c.Sandbox.Write(t.Context(), ref, client.WriteRequest{From: "ana", Type: "text", Text: "Hello"})
	require.NoError(t, err)
	require.Equal(t, 2, u.n["/sandbox/1/messages"], "what is too much is asked for again, whatever it is")
	for _, words := range []string{"one", "two"} {
		_, err = c.Messaging.Send(t.Context(), text(ref, words), nil)
		require.NoError(t, err)
	}
	require.Equal(t, 4, u.n["/chats/send"])
	page, err := c.Messaging.Messages(t.Context(), ref, "ana", nil)
	require.NoError(t, err)
	require.Len(t, page.Items, 3, "an answer that was lost sends nothing twice")

	_, err = c.Messaging.CreateReference(t.Context(), client.CreateReferenceRequest{Name: "Shop", Type: "provider-sandbox"})
	var e *client.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 503, e.Status)
	require.Equal(t, 2, u.n["/reference"], "it may have been done")
	_, err = c.Messaging.References(t.Context(), nil)
	require.ErrorAs(t, err, &e)
	require.Equal(t, 502, e.Status)
	require.Equal(t, 4, u.n["/reference/list"], "three repetitions")
	never := over(t, u, &client.Options{Retries: -1})
	_, err = never.Messaging.References(t.Context(), nil)
	require.Error(t, err)
	require.Equal(t, 5, u.n["/reference/list"])

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Messaging.Send(ctx, text(ref, "late"), nil)
	require.ErrorIs(t, err, context.Canceled)
}

// TestSecretsOnce does not repeat what replaces a secret: the second time would
// make another of it, or name a password that is not valid any more.
func TestSecretsOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	c := client.In(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusGatewayTimeout)
	}), &client.Options{Wait: time.Millisecond})
	_, err := c.Webhooks.Update(t.Context(), "1", client.WebhooksUpdateRequest{RotateSecret: new(true)})
	require.Error(t, err)
	require.Equal(t, 1, asked)
	_, err = c.Auth.UpdateUser(t.Context(), "1", client.UpdateUserRequest{CurrentPassword: new("one"), Password: new("two")})
	require.Error(t, err)
	require.Equal(t, 2, asked)
}

// TestEndlessEvent gives up a stream whose event has no end.
func TestEndlessEvent(t *testing.T) {
	t.Parallel()
	c := client.In(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for line := []byte("data: " + strings.Repeat("x", 1<<20) + "\n"); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}), nil)
	for _, err := range c.Messaging.Follow(t.Context(), nil) {
		require.ErrorContains(t, err, "an event is larger than")
	}
}

// TestRedirect follows no redirect: it would take the token to another port or
// out of TLS, and make a GET of a POST.
func TestRedirect(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Header.Get("Authorization")
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := http.RedirectHandler(other.URL, status)
		for name, c := range map[string]*client.Client{
			"New": over(t, h, &client.Options{Token: "secret", Wait: time.Millisecond}),
			"own": over(t, h, &client.Options{Token: "secret", Wait: time.Millisecond, HTTPClient: &http.Client{}}),
			"In":  client.In(h, &client.Options{Token: "secret", Wait: time.Millisecond}),
		} {
			_, err := c.Messaging.Send(t.Context(), text(1, "Hi"), nil)
			var e *client.Error
			require.ErrorAs(t, err, &e, name)
			require.Equal(t, status, e.Status)
			for _, err := range c.Messaging.Follow(t.Context(), nil) {
				require.ErrorAs(t, err, &e, name)
				require.Equal(t, status, e.Status)
			}
		}
	}
	require.Empty(t, asked)
}

// TestSegments refuses what leads out of the path of an operation: a server
// takes /bot/../x for /x.
func TestSegments(t *testing.T) {
	t.Parallel()
	c := client.In(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s", r.Method, r.URL.EscapedPath())
	}), nil)
	for _, id := range []string{"", ".", ".."} {
		_, err := c.Botengine.Bot(t.Context(), id)
		require.ErrorContains(t, err, "botId", id)
	}
}

// TestNewRefuses has addresses that are none.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "example.org", "ftp://example.org", "http://", "http://[::1", "/chat", "http://example.org?a=b", "http://example.org/#a"} {
		_, err := client.New(base, nil)
		require.Error(t, err, base)
	}
}

// TestMethods has a method for every operation, under the names of its id.
func TestMethods(t *testing.T) {
	t.Parallel()
	var d struct {
		Paths map[string]map[string]struct {
			OperationID string
			Responses   map[string]struct{ Description string }
		}
	}
	require.NoError(t, json.Unmarshal(document(t), &d))
	c := reflect.ValueOf(client.In(http.NotFoundHandler(), nil)).Elem()
	ofNetworks := []string{"Billing_Receive", "Messaging_Callback", "Messaging_Handshake"}
	for _, methods := range d.Paths {
		for _, op := range methods {
			service, method, _ := strings.Cut(op.OperationID, "_")
			f := c.FieldByName(service)
			require.True(t, f.IsValid(), op.OperationID)
			require.Equal(t, !slices.Contains(ofNetworks, op.OperationID), f.MethodByName(method).IsValid(), op.OperationID)
		}
	}
}
