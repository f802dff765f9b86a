package server_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// conversation is a golden: the bots of a reference, what happens in a chat, and
// what comes of it.
type conversation struct {
	About string                 `json:"about"`
	Flows []json.RawMessage      `json:"flows"`         // one for each bot, without what is the same in all
	Web   map[string][]webAnswer `json:"web,omitempty"` // by path; the last one is given again
	Steps []move                 `json:"steps"`
	Want  outcome                `json:"want"`
}

// webAnswer is what the internet of a conversation says.
type webAnswer struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// move is something that happens, and what the contact's phone shows then.
type move struct {
	Send    json.RawMessage `json:"send,omitempty"`    // the contact writes: a text, or a whole message
	Burst   []string        `json:"burst,omitempty"`   // the contact writes, faster than anybody answers
	Pass    string          `json:"pass,omitempty"`    // time passes, as "1h30m"
	Person  string          `json:"person,omitempty"`  // what a person of the account does: take, close, write, off, on
	Edit    json.RawMessage `json:"edit,omitempty"`    // a new draft of the first bot
	Publish bool            `json:"publish,omitempty"` // the draft of the first bot
	Shows   []string        `json:"shows"`
	Or      []string        `json:"or,omitempty"` // after a crash, where nobody can know whether a call was made
}

// outcome is what a conversation leaves behind.
type outcome struct {
	Runs    []ran           `json:"runs"`
	Contact map[string]any  `json:"contact,omitempty"`
	Events  json.RawMessage `json:"events,omitempty"`
	Calls   []string        `json:"calls,omitempty"`
}

// ran is a run of a bot.
type ran struct {
	Bot       string         `json:"bot"`
	Version   float64        `json:"version"`
	Status    string         `json:"status"`
	Waits     any            `json:"waits,omitempty"`
	Error     any            `json:"error,omitempty"` // its code
	Output    any            `json:"output,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`
	Path      []string       `json:"path"` // node and output
}

const (
	conversationFolder = "../botengine/testdata/conversations"
	anywhere           = "http://world" // the internet of a conversation
)

// conversations reads the goldens by their names.
func conversations(t *testing.T) map[string]*conversation {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(conversationFolder, "*.json"))
	require.NoError(t, err)
	out := map[string]*conversation{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		c := &conversation{}
		require.NoError(t, d.Decode(c), path)
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = c
	}
	return out
}

// same compares what came of a conversation with what was wanted.
func (c *conversation) same(t *testing.T, got *conversation) {
	t.Helper()
	for i, m := range c.Steps {
		require.Equal(t, m.Shows, got.Steps[i].Shows, "after step %d", i+1)
	}
	want, err := json.MarshalIndent(c.Want, "", " ")
	require.NoError(t, err)
	is, err := json.MarshalIndent(got.Want, "", " ")
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(is))
}

// keep writes what came of a conversation over what was wanted.
func (c *conversation) keep(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(c))
	require.NoError(t, os.WriteFile(filepath.Join(conversationFolder, name+".json"), b.Bytes(), 0o600))
}

// timed reports whether time passes in a conversation.
func (c *conversation) timed() bool {
	return slices.ContainsFunc(c.Steps, func(m move) bool { return m.Pass != "" })
}

// certain reports whether a conversation is the same after any crash.
func (c *conversation) certain() bool {
	return !slices.ContainsFunc(c.Steps, func(m move) bool { return m.Or != nil })
}

// flowOf completes the flow of a bot: ~ stands for the name of the
// conversation, so that conversations can share an account.
func flowOf(t *testing.T, name, world string, short json.RawMessage) string {
	t.Helper()
	doc := map[string]any{
		"format": flow.Format, "kind": flow.KindFlow, "engine": flow.EngineBot, "slug": "~bot", "name": "Bot", "start": "begin",
	}
	var own map[string]any
	require.NoError(t, json.Unmarshal(short, &own))
	maps.Copy(doc, own)
	raw, err := json.Marshal(doc)
	require.NoError(t, err)
	return strings.NewReplacer("~", name+"-", anywhere, world).Replace(string(raw))
}
