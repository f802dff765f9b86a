package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// balancer is an http.RoundTripper that leads every request to one of the servers
// that are up, as a load balancer would.
type balancer struct {
	mu    sync.Mutex
	hosts []string
	next  int
	nodes map[*node]bool // that were ever up
}

// open replaces the servers that are up.
func (d *balancer) open(nodes ...*node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts = nil
	for _, n := range nodes {
		d.hosts = append(d.hosts, n.host)
		if d.nodes == nil {
			d.nodes = map[*node]bool{}
		}
		d.nodes[n] = true
	}
}

// gaveUp matches what a server says when it ends its work, since others may think it
// dead.
var gaveUp = regexp.MustCompile(`no heartbeat was written in time.*\bpartitions"?[=:](\d+)`)

// givenUp returns how many partitions servers gave up in that way, by their own count.
func (d *balancer) givenUp(t *testing.T) (partitions int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := range d.nodes {
		for _, m := range gaveUp.FindAllStringSubmatch(n.stderr.String(), -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			partitions += n
		}
	}
	return partitions
}

var errClosed = errors.New("no server is up")

// RoundTrip sends the request to the next server that is up.
func (d *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	if len(d.hosts) == 0 {
		d.mu.Unlock()
		return nil, errClosed
	}
	d.next++
	host := d.hosts[d.next%len(d.hosts)]
	d.mu.Unlock()
	r = r.Clone(r.Context())
	r.URL.Host = host
	return http.DefaultTransport.RoundTrip(r)
}

// balancerURL is where the servers behind a door are.
const balancerURL = "http://trunkline.test"

// env is what is around the servers of a test: the network, a receiver of
// webhooks and a user.
type env struct {
	balancer balancer
	graph    *graphtest.Server
	number   graphtest.Number
	sink     *sink
	http     *http.Client
	token    string
	ref      int
}

// answerWithin is longer than a server takes to answer, on a busy machine: it
// waits for 30 s where it is asked to, and for a minute for another node.
const answerWithin = 2 * time.Minute

// newEnv starts a network and a receiver.
func newEnv(t *testing.T, statuses ...string) *env {
	t.Helper()
	r := &env{number: graphtest.Number{
		PhoneNumberID: "700100200300", BusinessAccountID: "800100200300", AccessToken: "token-of-the-number",
		AppSecret: "secret-of-the-app", VerifyToken: "verify token",
	}}
	r.http = &http.Client{Transport: &r.balancer, Timeout: answerWithin}
	r.graph = graphtest.Start(&graphtest.Options{
		Numbers: []graphtest.Number{r.number}, Callback: balancerURL + "/webhooks/provider", Statuses: statuses,
		HTTPClient: r.http, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(r.graph.Close)
	r.sink = newSink(t)
	return r
}

// args returns the flags that let a server reach the rig.
func (r *env) args(more ...string) []string {
	return append([]string{"--graph-url", r.graph.URL, "--webhook-allow", "127.0.0.1/32", "--log", "warn"}, more...)
}

// setup signs up, adds the network's reference, proves its token and registers the
// receiver.
func (r *env) setup(t *testing.T) {
	t.Helper()
	r.signUp(t)
	settings, err := json.Marshal(map[string]string{
		"phoneNumberId": r.number.PhoneNumberID, "businessAccountId": r.number.BusinessAccountID, "accessToken": r.number.AccessToken,
		"appSecret": r.number.AppSecret, "verifyToken": r.number.VerifyToken,
	})
	require.NoError(t, err)
	ref := r.call(t, 201, "POST", "/reference", fmt.Sprintf(`{"name":"Shop","type":"provider-cloud","settings":%s}`, settings))
	r.ref = int(ref["id"].(float64))
	session := r.call(t, 200, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, r.ref))
	require.Equal(t, "CONNECTED", session["state"], session)
	r.register(t)
}

func (r *env) signUp(t testing.TB) {
	t.Helper()
	in := r.call(t, 201, "POST", "/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"Ana"}`)
	r.token = in["token"].(string)
}

// register registers the receiver for the reference's webhooks.
func (r *env) register(t *testing.T) {
	t.Helper()
	hook := r.call(t, 201, "POST", "/references/registerWebHook", fmt.Sprintf(
		`{"reference":%d,"webhook":%q,"headers":[{"key":"X-From","value":"Trunkline"}]}`, r.ref, r.sink.url))
	r.sink.trust(t, hook["secret"].(string))
}

// call makes a request that must be answered with status and a JSON object.
func (r *env) call(t testing.TB, status int, method, path, body string) map[string]any {
	t.Helper()
	got, answer, err := r.try(t.Context(), method, path, body)
	require.NoError(t, err)
	require.Equal(t, status, got, "%s %s: %v", method, path, answer)
	return answer
}

// try makes a request.
func (r *env) try(ctx context.Context, method, path, body string, header ...string) (int, map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, method, balancerURL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	answer := map[string]any{}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return 0, nil, fmt.Errorf("%s %s answered %d with %q", method, path, resp.StatusCode, raw)
	}
	return resp.StatusCode, answer, nil
}

// upload keeps a file.
func (r *env) upload(t *testing.T, body []byte, name string) map[string]any {
	t.Helper()
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	go func() {
		file, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = file.Write(body)
		}
		if err == nil {
			err = form.WriteField("reference", fmt.Sprint(r.ref))
		}
		if err == nil {
			err = form.Close()
		}
		_ = write.CloseWithError(err) // never fails
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, balancerURL+"/media", read)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := r.http.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	out := map[string]any{}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&out))
	require.Equal(t, http.StatusCreated, res.StatusCode, out)
	return out
}

// record is a message as the API shows it.
type record struct {
	ID        string
	ChatID    string
	Mine      bool
	Text      string
	Status    string
	Direction string
	Error     *struct{ Code, Message string }
}

// history reads all messages of a chat, the oldest first.
func (r *env) history(t testing.TB, chat string) []record {
	t.Helper()
	return r.historyOf(t, r.ref, chat)
}

// historyOf is history of a chat of some reference.
func (r *env) historyOf(t testing.TB, ref int, chat string) []record {
	t.Helper()
	var all []record
	for cursor := ""; ; {
		page := r.call(t, 200, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=200%s", ref, chat, cursor), "")
		raw, err := json.Marshal(page["items"])
		require.NoError(t, err)
		var items []record
		require.NoError(t, json.Unmarshal(raw, &items))
		slices.Reverse(items)
		all = append(items, all...)
		next, more := page["next"].(string)
		if !more {
			return all
		}
		cursor = "&before=" + next
	}
}

// sendBody asks to send a text.
func (r *env) sendBody(chat, text string) string {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(map[string]any{ // strings and a number
		"reference": r.ref, "chatId": chat, "message": map[string]string{"type": "text", "text": text},
	})
	return b.String()
}
