package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sharedSecret is what the nodes on one database have in common.
const sharedSecret = "the secret that all the nodes have in common"

// onDatabases runs fn with the flags of each kind of database.
func onDatabases(t *testing.T, fn func(t *testing.T, database []string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, []string{"--data", t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, []string{"--data", t.TempDir(), "--database-url", testkit.PostgresURL(t), "--secret", sharedSecret})
	})
}

// TestCloudLine follows messages of two contacts through the whole server, in
// and out, on the wire of both sides.
func TestCloudLine(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		r := newEnv(t)
		r.graph.Templates.Put(graphtest.Template{
			Account: r.number.BusinessAccountID, Name: "hello_world", Language: "en_US", Category: "UTILITY", Status: "APPROVED",
			Components: []json.RawMessage{json.RawMessage(`{"type":"BODY","text":"Hello, {{1}}!"}`)},
		})
		n := launch(t, r.args(database...)...)
		r.balancer.open(n)
		r.setup(t)
		require.True(t, r.graph.Subscribed(r.number.BusinessAccountID))
		require.NoError(t, r.graph.Handshake(t.Context(), ""))
		known := r.call(t, 200, "GET", fmt.Sprintf("/templates?reference=%d", r.ref), "") // the copy is there before one is sent
		require.Len(t, known["items"], 1)

		r.talk(t, "16505551234", graphtest.Inbound{From: "16505551234", Name: "Maria López"})
		r.talk(t, "US.13491208655302741918", graphtest.Inbound{UserID: "US.13491208655302741918", Name: "Zoë", Username: "zoe"})
		r.failure(t, "16505559999")

		var hooks bytes.Buffer
		for _, contact := range []string{"16505551234", "US.13491208655302741918", "16505559999"} {
			for i, d := range r.of(t, contact) {
				require.Equal(t, int64(i+1), d.sequence)
				fmt.Fprintf(&hooks, "%s %s %d\n%s\n\n", d.event, d.reference, d.sequence, d.body)
			}
		}
		golden(t, "webhooks", hooks.String())
		golden(t, "graph", r.requests())
		_, repeats := r.sink.count()
		require.Zero(t, repeats)
		n.terminate(t)
	})
}

// talk lets a contact write, be read, be answered with a text and a template,
// and read both. It waits for each webhook, so that their order is known.
func (r *env) talk(t *testing.T, contact string, in graphtest.Inbound) {
	t.Helper()
	in.At = time.Now().Add(-time.Minute).Truncate(time.Second)
	in.Text = "Are you open «today»? <&> 👍"
	id, err := r.graph.Write(t.Context(), in)
	require.NoError(t, err)
	r.await(t, contact, 1)
	require.Contains(t, r.of(t, contact)[0].body, fmt.Sprintf(`"messageTimestamp":%d,`, in.At.Unix()))

	r.call(t, 200, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":%q,"messageId":%q}`, r.ref, contact, id))
	require.NoError(t, r.graph.WaitRead(t.Context(), id))
	r.await(t, contact, 2)

	events := 2
	for i, body := range []string{
		`{"type":"text","text":"Until nine.\nSee you!","previewUrl":true}`,
		`{"type":"template","template":{"name":"hello_world","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"Maria"}]}]}}`,
	} {
		quote := ""
		if i == 0 {
			quote = fmt.Sprintf(`,"context":{"messageId":%q}`, id)
		}
		sent := r.call(t, 200, "POST", "/chats/send?wait=30", fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":%s%s}`, r.ref, contact, body, quote))
		message := sent["message"].(map[string]any)
		require.Equal(t, "SENDING", message["status"], message)
		own := message["id"].(string)
		require.Regexp(t, `^wamid\.`, own)
		for _, status := range []string{"sent", "delivered", "sent", "read", "delivered"} { // a repeat and what comes late say nothing new
			require.NoError(t, r.graph.Status(t.Context(), own, status, 0))
		}
		events += 3
		r.await(t, contact, events)
	}
	_, err = r.graph.Write(t.Context(), graphtest.Inbound{From: in.From, UserID: in.UserID, Name: in.Name, At: in.At.Add(time.Minute), Text: "Thanks", ReplyTo: id})
	require.NoError(t, err)
	r.await(t, contact, events+1)
}

// failure writes to a contact whom the network refuses.
func (r *env) failure(t *testing.T, contact string) {
	t.Helper()
	_, err := r.graph.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Nobody", Text: "Hello"})
	require.NoError(t, err)
	r.await(t, contact, 1)
	r.graph.Fail(graphtest.Fault{Code: 131026, Message: "(#131026) Message undeliverable"})
	refused := r.call(t, 502, "POST", "/chats/send?wait=30", r.sendBody(contact, "Are you there?"))
	require.Equal(t, "provider_error", refused["code"])
	require.Contains(t, refused["detail"], "131026")
	r.await(t, contact, 2)
}

// of returns the webhooks about a contact, in order.
func (r *env) of(t testing.TB, contact string) []delivery {
	t.Helper()
	r.sink.sound(t)
	return r.sink.about(contact)
}

// await waits for n webhooks about a contact.
func (r *env) await(t testing.TB, contact string, n int) {
	t.Helper()
	r.sink.until(t, func() bool { return len(r.sink.about(contact)) >= n }, contact)
	require.Len(t, r.of(t, contact), n, contact)
}

// requests returns what the network was asked, in order.
func (r *env) requests() string {
	var out strings.Builder
	for _, q := range r.graph.Requests() {
		if strings.HasSuffix(q.Path, "/message_templates") || strings.Contains(q.Path, "/message_templates?") {
			continue // asked for in the background
		}
		fmt.Fprintf(&out, "%s /%s %d\n", q.Method, q.Path, q.Status)
		if len(q.Body) > 0 {
			var body bytes.Buffer
			_ = json.Compact(&body, q.Body) // it is valid
			fmt.Fprintln(&out, body.String())
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

// variable is what differs from run to run.
var variable = regexp.MustCompile(`wamid\.[A-Za-z0-9+/=]+|out-[0-9a-f-]{36}|"(?:messageTimestamp|at)":[0-9]{10}\b`)

// golden compares text with a file, once what differs from run to run has
// names.
func golden(t *testing.T, name, text string) {
	t.Helper()
	names := map[string]string{}
	text = variable.ReplaceAllStringFunc(text, func(found string) string {
		kind := "wamid"
		switch {
		case strings.HasPrefix(found, "out-"):
			kind = "own id"
		case strings.HasPrefix(found, `"`):
			member, _, _ := strings.Cut(found, ":")
			return member + ":<now>"
		}
		if names[found] == "" {
			names[found] = fmt.Sprintf("<%s %d>", kind, len(names)+1)
		}
		return names[found]
	})
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
