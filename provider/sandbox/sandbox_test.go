package sandbox_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/providertest"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Harness{
		New: func(*testing.T) providertest.Line {
			p := &watched{Provider: sandbox.New(), seen: map[string]bool{}}
			return providertest.Line{Provider: p, Reference: provider.Reference{ID: 1, Name: "Sandbox"}, Shown: p.shown}
		},
		ChatIDs: []string{"ana@sandbox", "bob", " Carla-2.b_c ", "DORA@sandbox"},
		Contents: []provider.Content{
			provider.Media{Kind: provider.Image, URL: "https://files.example/a.png", Caption: "A picture"},
			provider.Media{Kind: provider.Video, URL: "https://files.example/a.mp4"},
			provider.Media{Kind: provider.Audio, URL: "https://files.example/a.mp3"},
			provider.Media{Kind: provider.Document, Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader("%PDF")), nil
			}},
			provider.Media{Kind: provider.Sticker, URL: "https://files.example/a.webp"},
		},
		Junk: []string{"", "@sandbox", "ana@elsewhere", "ana lima", "ána", "a\x00", "ana@sandbox@sandbox", string(make([]byte, 65))},
	})
}

// watched is the sandbox, with an eye on the contact's phone.
type watched struct {
	*sandbox.Provider

	mu    sync.Mutex
	seen  map[string]bool
	texts []string
}

func (w *watched) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	s, err := w.Provider.Open(ctx, ref, inbox)
	return &watchedSession{s.(session), w}, err
}

func (w *watched) shown() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.texts...)
}

// session is all that a sandbox session can do.
type session interface {
	provider.Session
	provider.Checker
	provider.Reader
}

type watchedSession struct {
	session
	w *watched
}

func (s *watchedSession) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	r, err := s.session.Send(ctx, out)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if c, ok := out.Content.(provider.Text); ok && err == nil && !s.w.seen[r.MessageID] {
		s.w.seen[r.MessageID] = true
		s.w.texts = append(s.w.texts, c.Text)
	}
	return r, err
}

// inbox keeps what is received, or refuses it.
type inbox struct {
	ref    provider.ReferenceID
	events []provider.Event
	err    error
}

func (i *inbox) Receive(_ context.Context, ref provider.ReferenceID, events []provider.Event) error {
	if i.err == nil {
		i.ref, i.events = ref, append(i.events, events...)
	}
	return i.err
}

func TestPhone(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	phone := sandbox.Phone{Inbox: in, Reference: 7, Name: "Ana", PushName: "Ana Lima"}
	id, err := phone.Write(t.Context(), provider.Text{Text: "hello"})
	require.NoError(t, err)
	require.NoError(t, phone.Read(t.Context(), "m1"))
	require.EqualValues(t, 7, in.ref)

	m, ok := in.events[0].(*provider.Message)
	require.True(t, ok)
	require.Equal(t, id, m.ID)
	require.Equal(t, provider.Address{ChatID: "ana@sandbox"}, m.Chat)
	require.Equal(t, "Ana Lima", m.From.Name)
	require.Equal(t, provider.Text{Text: "hello"}, m.Content)
	require.False(t, m.At.IsZero())
	read, ok := in.events[1].(*provider.StatusChange)
	require.True(t, ok)
	require.Equal(t, "m1", read.MessageID)
	require.Equal(t, provider.StatusRead, read.Status)

	_, err = sandbox.Phone{Inbox: in, Name: "bob"}.Write(t.Context(), provider.Text{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, "bob", in.events[2].(*provider.Message).From.Name, "the name stands in")
	_, err = sandbox.Phone{Inbox: in, Name: "not a name"}.Write(t.Context(), provider.Text{Text: "x"})
	var bad *provider.BadRecipient
	require.ErrorAs(t, err, &bad)
	in.err = context.DeadlineExceeded
	_, err = phone.Write(t.Context(), provider.Text{Text: "x"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestDeliveryIsReportedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	p := sandbox.New()
	s, err := p.Open(t.Context(), provider.Reference{ID: 7}, in)
	require.NoError(t, err)
	out := provider.Outbound{ID: p.NewMessageID(), To: provider.Address{ChatID: "ana@sandbox"}, Content: provider.Text{Text: "hi"}}
	_, err = s.Send(t.Context(), out)
	require.NoError(t, err)
	require.Equal(t, out.ID, in.events[0].(*provider.StatusChange).MessageID)
	in.err = context.DeadlineExceeded
	_, err = s.Send(t.Context(), out)
	var temporary *provider.Temporary
	require.ErrorAs(t, err, &temporary, "the same message may be repeated")
}
