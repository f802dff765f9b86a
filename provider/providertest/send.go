package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// samples returns one content of each type.
func (f *fixture) samples() map[string]provider.Content {
	all := map[string]provider.Content{}
	for _, c := range slices.Concat([]provider.Content{
		provider.Text{Text: "Hello"},
		provider.Template{Template: provider.TemplateCall{Name: "hello", Language: provider.TemplateLanguage{Code: "en_US"}}},
		provider.Buttons{Text: "Well?", Buttons: []provider.Choice{{ID: "y", Title: "Yes"}, {ID: "n", Title: "No"}}},
		provider.List{Text: "Which?", Button: "Choose", Sections: []provider.Section{{Rows: []provider.Choice{{ID: "1", Title: "One"}}}}},
		provider.Location{Latitude: 52.52, Longitude: 13.4, Name: "Berlin"},
		provider.Contacts{Contacts: []provider.Card{{
			Name: provider.CardName{Formatted: "Ben Silva", First: "Ben"}, Phones: []provider.CardPhone{{Phone: "+49 30 1234567"}},
		}}},
		provider.Poll{Question: "Which day?", Options: []string{"Monday", "Tuesday"}},
		provider.Interactive{Interactive: json.RawMessage(
			`{"type":"location_request_message","body":{"text":"Where are you?"},"action":{"name":"send_location"}}`)},
	}, f.h.Contents) {
		all[c.Type()] = c
	}
	return all
}

// contents: each declared type can be sent.
func contents(t *testing.T, f *fixture) {
	session, samples, ids := f.open(t), f.samples(), map[string]bool{}
	for _, name := range f.Provider.Capabilities().Send {
		content := samples[name]
		if content == nil {
			content = f.about(t, session, name)
		}
		require.NotNil(t, content, "the harness has no content of type %s", name)
		for i, part := range f.split(t, name, content) {
			receipt, err := session.Send(t.Context(), provider.Outbound{ID: f.id(fmt.Sprintf("own-%s-%d", name, i)), To: f.to, Content: part})
			require.NoError(t, err, name)
			require.NotEmpty(t, receipt.MessageID, name)
			require.False(t, ids[receipt.MessageID], "%s has another's id", name)
			ids[receipt.MessageID] = true
			if receipt.To != nil {
				require.NotEmpty(t, receipt.To.ChatID)
			}
		}
	}
	require.Contains(t, f.Shown(), "Hello")
	reply := f.text("in reply")
	for id := range ids {
		reply.ReplyTo = id
		break
	}
	_, err := session.Send(t.Context(), reply)
	require.NoError(t, err)
}

// about returns content of a type that refers to another message; nil for other
// types.
func (f *fixture) about(t *testing.T, session provider.Session, name string) provider.Content {
	t.Helper()
	if !slices.Contains([]string{"reaction", "edit", "revoke", "vote"}, name) {
		return nil
	}
	first := f.text("to be followed by a " + name)
	if name == "vote" {
		first.Content = provider.Poll{Question: "Which day?", Options: []string{"Monday", "Tuesday"}}
	}
	receipt, err := session.Send(t.Context(), first)
	require.NoError(t, err)
	switch name {
	case "edit":
		return provider.Edit{MessageID: receipt.MessageID, Text: "Hello again"}
	case "vote":
		return provider.Vote{MessageID: receipt.MessageID, Options: []string{"Monday"}}
	case "revoke":
		return provider.Revoke{MessageID: receipt.MessageID}
	}
	return provider.Reaction{MessageID: receipt.MessageID, Emoji: "👍"}
}

// hologram is a content that no kind supports.
type hologram struct{}

func (hologram) Type() string { return "hologram" }

// split returns the messages that content of a type is sent as: one of the
// type, and maybe others.
func (f *fixture) split(t *testing.T, name string, c provider.Content) []provider.Content {
	t.Helper()
	splitter, ok := f.Provider.(provider.Splitter)
	if !ok {
		return []provider.Content{c}
	}
	all, own := splitter.Split(c), 0
	for _, part := range all {
		if part.Type() == name {
			own++
		}
		require.Len(t, splitter.Split(part), 1, "a part is whole")
	}
	require.Equal(t, 1, own, name)
	return all
}

// otherContents: content of an undeclared type is refused and does not arrive.
func otherContents(t *testing.T, f *fixture) {
	session := f.open(t)
	others := []provider.Content{
		hologram{},
		provider.Unknown{Kind: "x"},
		provider.Reply{ID: "1"},
		provider.Reaction{MessageID: "x"},
		provider.Edit{MessageID: "x", Text: "y"},
		provider.Revoke{MessageID: "x"},
		provider.Vote{MessageID: "x", Options: []string{"y"}},
		nil,
	}
	for _, c := range f.samples() {
		others = append(others, c)
	}
	for _, c := range others {
		if c != nil && f.sends(c.Type()) {
			continue
		}
		_, err := session.Send(t.Context(), provider.Outbound{ID: f.id("own"), To: f.to, Content: c})
		var unsupported *provider.Unsupported
		require.ErrorAs(t, err, &unsupported, "%T", c)
	}
	require.Empty(t, f.Shown())
}

// groups: a kind with groups sends to them, and a kind without groups refuses
// to.
func groups(t *testing.T, f *fixture) {
	out := f.text("to a group")
	out.To = provider.Address{ChatID: "120363041234567890@g.us", Group: true}
	if f.Provider.Capabilities().Groups {
		f.toGroup(t, out)
		return
	}
	_, err := f.open(t).Send(t.Context(), out)
	require.Contains(t, []string{"*provider.Unsupported", "*provider.BadRecipient"}, fmt.Sprintf("%T", err))
}

func cancelled(t *testing.T, f *fixture) {
	session := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := session.Send(ctx, f.text("never"))
	require.ErrorIs(t, err, context.Canceled)
	var temporary *provider.Temporary
	require.ErrorAs(t, err, &temporary, "nothing was done")
	_, err = session.Send(t.Context(), f.text("after"))
	require.NoError(t, err, "the session is as good as before")
	require.Equal(t, []string{"after"}, f.Shown())
}

func closed(t *testing.T, f *fixture) {
	session := f.open(t)
	require.NoError(t, session.Close(t.Context()))
	require.NoError(t, session.Close(t.Context()), "closing twice")
	_, err := session.Send(t.Context(), f.text("never"))
	require.Error(t, err)
	require.Empty(t, f.Shown())

	again := f.open(t)
	_, err = again.Send(t.Context(), f.text("after"))
	require.NoError(t, err, "a line can be opened again")
}

func concurrentSends(t *testing.T, f *fixture) {
	const n = 32
	session := f.open(t)
	var mu sync.Mutex
	ids, want := map[string]bool{}, make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		want[i] = fmt.Sprintf("message %02d", i)
		wg.Go(func() {
			receipt, err := session.Send(t.Context(), f.text(want[i]))
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			ids[receipt.MessageID] = true
		})
	}
	wg.Wait()
	require.Len(t, ids, n, "each has an id of its own")
	shown := f.Shown()
	slices.Sort(shown)
	require.Equal(t, want, shown)
}

// faults: each fault is returned as its error once, and only after a lost
// answer does the contact have the message.
func faults(t *testing.T, f *fixture) {
	if f.Fail == nil {
		return
	}
	session := f.open(t)
	for fault, want := range map[Fault]string{
		RateLimited: "*provider.RateLimited",
		Window:      "*provider.WindowClosed",
		Expired:     "*provider.AuthExpired",
		Unreachable: "*provider.BadRecipient",
		Refused:     "*provider.Rejected",
		Unavailable: "*provider.Temporary",
		Lost:        "*provider.Ambiguous",
	} {
		if !f.Fail(fault) {
			continue
		}
		_, err := session.Send(t.Context(), f.text(string(fault)))
		require.Equal(t, want, fmt.Sprintf("%T", err), "%s: %v", fault, err)
		require.Equal(t, fault == Lost, slices.Contains(f.Shown(), string(fault)), fault)
		_, err = session.Send(t.Context(), f.text("after "+string(fault)))
		require.NoError(t, err)
	}
}

// hanging: a send ends with its context, and its outcome is unknown.
func hanging(t *testing.T, f *fixture) {
	if f.Fail == nil {
		return
	}
	session := f.open(t)
	_, err := session.Send(t.Context(), f.text("before")) // so that the session is connected
	require.NoError(t, err)
	if !f.Fail(Hanging) {
		return
	}
	var uncertain *provider.Ambiguous
	for d := 300 * time.Millisecond; uncertain == nil; d *= 4 {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err = session.Send(ctx, f.text("hanging"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		if _, ok := errors.AsType[*provider.Temporary](err); ok && d < time.Minute {
			continue // the machine is slow: the context ended before the message was sent
		}
		require.ErrorAs(t, err, &uncertain)
	}
}

// ownIDs: of messages with the same id, one arrives.
func ownIDs(t *testing.T, f *fixture) {
	own, ok := f.identifier()
	if !ok {
		return
	}
	first := own.NewMessageID()
	require.NotEmpty(t, first)
	require.NotEqual(t, first, own.NewMessageID())
	session, out := f.open(t), f.text("once")
	for range 2 {
		receipt, err := session.Send(t.Context(), out)
		require.NoError(t, err)
		require.Equal(t, out.ID, receipt.MessageID)
	}
	require.Equal(t, []string{"once"}, f.Shown())
}
