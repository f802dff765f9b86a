package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

const stated = `Grüße 🙂 "quoted" a/b`

// receives: the inbox gets what the contact writes.
func receives(t *testing.T, f *fixture) {
	if f.Say == nil {
		return
	}
	f.open(t)
	f.Say(t, stated)
	f.holds(t, f.inbox.message(t))
}

// holds checks the message that the contact wrote.
func (f *fixture) holds(t *testing.T, m *provider.Message) {
	t.Helper()
	require.NotEmpty(t, m.ID)
	require.Equal(t, provider.Text{Text: stated}, m.Content)
	require.False(t, m.Mine)
	require.Equal(t, f.to.ChatID, m.Chat.ChatID, "the chat has the id that a user writes")
	require.Equal(t, m.Chat.ChatID, m.From.ChatID)
	back, err := f.Provider.Address(m.Chat.ChatID)
	require.NoError(t, err, "it can be answered")
	require.Equal(t, m.Chat.ChatID, back.ChatID)
}

// votes: a vote names its poll and has everything that the contact chooses now,
// by name or by hash.
func votes(t *testing.T, f *fixture) {
	if f.Vote == nil {
		return
	}
	require.True(t, f.sends("poll"))
	session := f.open(t)
	poll := provider.Poll{Question: "Which days?", Options: []string{"Monday", "Tuesday", "Sunday"}, Multiple: true}
	receipt, err := session.Send(t.Context(), provider.Outbound{ID: f.id("own poll"), To: f.to, Content: poll})
	require.NoError(t, err)
	for _, options := range [][]string{{"Tuesday"}, {"Monday", "Sunday"}, {}} {
		f.Vote(t, receipt.MessageID, options...)
		m := f.inbox.message(t)
		require.False(t, m.Mine)
		require.Equal(t, f.to.ChatID, m.Chat.ChatID)
		v, ok := m.Content.(provider.Vote)
		require.Truef(t, ok, "it is a %T", m.Content)
		require.Equal(t, receipt.MessageID, v.MessageID)
		require.Len(t, append(v.Hashes, make([][]byte, len(v.Options))...), len(options))
		for _, o := range options {
			hash := sha256.Sum256([]byte(o))
			require.True(t, slices.Contains(v.Options, o) || slices.ContainsFunc(v.Hashes, func(h []byte) bool { return bytes.Equal(h, hash[:]) }), o)
		}
	}
}

// caller returns the reference's callback, if its kind has callbacks.
func (f *fixture) caller(t *testing.T) (provider.Caller, http.Header, []byte) {
	t.Helper()
	c, ok := f.Provider.(provider.Caller)
	if !ok {
		return nil, nil, nil
	}
	require.NotNil(t, f.Callback, "a Caller needs callbacks to be tested")
	header, body := f.Callback(t, stated)
	return c, header, body
}

func callerKeys(t *testing.T, f *fixture) {
	c, _, body := f.caller(t)
	if c == nil {
		return
	}
	require.NotEmpty(t, c.Object())
	var outer struct{ Object string }
	require.NoError(t, json.Unmarshal(body, &outer))
	require.Equal(t, c.Object(), outer.Object)
	ref, _ := c.Keys(f.Reference.Settings)
	require.NotEmpty(t, ref)
	signing, verify := c.Secrets(f.Reference.Settings)
	require.NotEmpty(t, signing)
	require.NotEmpty(t, verify)
	ref, group := c.Keys(nil)
	signing, verify = c.Secrets(provider.Settings{})
	require.Empty(t, ref+group+signing+verify, "no settings, no keys")
}

func callerSignatures(t *testing.T, f *fixture) {
	c, header, body := f.caller(t)
	if c == nil {
		return
	}
	secret, _ := c.Secrets(f.Reference.Settings)
	require.True(t, c.Verify(secret, header, body))
	require.False(t, c.Verify(secret+"x", header, body), "another secret")
	require.False(t, c.Verify("", header, body), "no secret")
	require.False(t, c.Verify(secret, http.Header{}, body), "no signature")
	require.False(t, c.Verify(secret, header, body[:len(body)-1]), "half a body")
	require.False(t, c.Verify(secret, header, nil), "no body")
	for i := range body {
		changed := slices.Clone(body)
		changed[i] ^= 1
		require.False(t, c.Verify(secret, header, changed), "byte %d changed", i)
	}
}

func callerEvents(t *testing.T, f *fixture) {
	c, _, body := f.caller(t)
	if c == nil {
		return
	}
	ref, group := c.Keys(f.Reference.Settings)
	whole := slices.Clone(body)
	parts, err := c.Route(body)
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, ref, parts[0].NetworkID)
	if group != "" {
		require.Equal(t, group, parts[0].Group)
	}
	for range 2 { // a part may be parsed again
		events, bad := c.Parse(parts[0])
		require.Empty(t, bad)
		require.Len(t, events, 1)
		m, ok := events[0].(*provider.Message)
		require.Truef(t, ok, "it is a %T", events[0])
		f.holds(t, m)
	}
	require.Equal(t, whole, body, "the body is as it was")
}

// callerJunk: no input causes a panic.
func callerJunk(t *testing.T, f *fixture) {
	c, header, body := f.caller(t)
	if c == nil {
		return
	}
	bodies := [][]byte{nil, []byte("null"), []byte("[]"), []byte("{}"), []byte(`"x"`), []byte("\xff"), []byte(strings.Repeat("[", 20000))}
	for i := range body {
		bodies = append(bodies, body[:i])
		changed := slices.Clone(body)
		changed[i] = "{}[]\",:0"[i%8]
		bodies = append(bodies, changed)
	}
	for _, b := range bodies {
		c.Verify("secret", header, b)
		parts, _ := c.Route(b)
		for _, part := range append(parts, provider.Part{}, provider.Part{Body: b}) {
			c.Parse(part)
		}
	}
}
