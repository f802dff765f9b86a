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
	for name, settings := range map[string]provider.Settings{"ids of ours": nil, "late ids": {"lateIds": "true"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conform(t, settings)
		})
	}
}

func conform(t *testing.T, settings provider.Settings) {
	t.Helper()
	providertest.Run(t, providertest.Harness{
		New: func(*testing.T) providertest.Setup {
			p := &watched{Provider: sandbox.New(), seen: map[string]bool{}}
			return providertest.Setup{Provider: p, Reference: provider.Reference{ID: 1, Name: "Sandbox", Settings: settings}, Shown: p.shown}
		},
		ChatIDs: []string{"ana@sandbox", "bob", " Carla-2.b_c ", "DORA@sandbox", "friends@g.us"},
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
	provider.GroupManager
	provider.NumberChecker
	provider.Typist
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

// TestGroups shows what the suite does not ask of every network.
func TestGroups(t *testing.T) {
	t.Parallel()
	p, in := sandbox.New(), &inbox{}
	open := func(ref provider.ReferenceID) session {
		s, err := p.Open(t.Context(), provider.Reference{ID: ref}, in)
		require.NoError(t, err)
		return s.(session)
	}
	shop, other := open(7), open(8)
	ana, ben, friends := provider.Address{ChatID: "ana@sandbox"}, provider.Address{ChatID: "ben@sandbox"}, provider.Address{ChatID: "friends@g.us", Group: true}
	g, err := shop.CreateGroup(t.Context(), "Friends", []provider.Address{ana, friends, ana})
	require.NoError(t, err)
	require.Len(t, g.Participants, 1)
	require.Equal(t, []provider.RefusedParticipant{{Address: friends, Failure: provider.Failure{Code: "group", Message: "a group cannot be in a group"}}}, g.Refused)
	shown, err := shop.Group(t.Context(), g.Chat)
	require.NoError(t, err)
	require.Empty(t, shown.Refused)
	for _, change := range []provider.ParticipantChange{provider.ParticipantRemove, provider.ParticipantPromote, provider.ParticipantDemote} {
		refused, err := shop.ChangeParticipants(t.Context(), g.Chat, change, []provider.Address{ben})
		require.NoError(t, err)
		require.Equal(t, "not_a_participant", refused[0].Code)
	}
	_, err = other.Group(t.Context(), g.Chat)
	var unknown *provider.BadRecipient
	require.ErrorAs(t, err, &unknown, "another line has groups of its own")

	out := provider.Outbound{ID: p.NewMessageID(), To: g.Chat, Content: provider.Text{Text: "hi"}}
	_, err = shop.Send(t.Context(), out)
	require.NoError(t, err)
	_, err = sandbox.Phone{Inbox: in, Reference: 7, Name: "ana", Group: g.Chat.ChatID}.Write(t.Context(), provider.Text{Text: "hello all"})
	require.NoError(t, err)
	m := in.events[1].(*provider.Message)
	require.Equal(t, []provider.Address{g.Chat, ana}, []provider.Address{m.Chat, m.From.Address})

	require.NoError(t, shop.LeaveGroup(t.Context(), g.Chat))
	var refused *provider.Rejected
	_, err = shop.Send(t.Context(), out)
	require.ErrorAs(t, err, &refused)
	require.ErrorAs(t, shop.SetGroupSubject(t.Context(), g.Chat, "Foes"), &refused)

	require.NoError(t, shop.Close(t.Context()))
	_, err = shop.CreateGroup(t.Context(), "Friends", []provider.Address{ana})
	require.ErrorIs(t, err, sandbox.ErrClosed)
	_, err = shop.CheckNumber(t.Context(), ana)
	require.ErrorIs(t, err, sandbox.ErrClosed)
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

// TestLateIDs repeats a message that has an id of ours.
func TestLateIDs(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	s, err := sandbox.New().Open(t.Context(), provider.Reference{ID: 7, Settings: provider.Settings{"lateIds": "true"}}, in)
	require.NoError(t, err)
	send := func(own string) string {
		r, err := s.Send(t.Context(), provider.Outbound{ID: own, To: provider.Address{ChatID: "ana@sandbox"}, Content: provider.Text{Text: "hi"}})
		require.NoError(t, err)
		status := in.events[len(in.events)-1].(*provider.StatusChange)
		require.Equal(t, []string{r.MessageID, own}, []string{status.MessageID, status.OwnID})
		require.NotEqual(t, own, r.MessageID)
		return r.MessageID
	}
	first := send("out-1")
	require.Equal(t, first, send("out-1"), "it is recognised")
	require.NotEqual(t, first, send("out-2"))
}

// TestPhoneEdits writes an edit and a deletion as networks report them.
func TestPhoneEdits(t *testing.T) {
	t.Parallel()
	in := &inbox{}
	ana := sandbox.Phone{Inbox: in, Reference: 7, Name: "ana"}
	_, err := ana.Write(t.Context(), provider.Edit{MessageID: "m1", Text: "better"})
	require.NoError(t, err)
	edit := in.events[0].(*provider.Message)
	require.Equal(t, "m1", edit.Edits)
	require.Equal(t, provider.Text{Text: "better"}, edit.Content)
	require.NotEqual(t, "m1", edit.ID)
	_, err = ana.Write(t.Context(), provider.Revoke{MessageID: "m1"})
	require.NoError(t, err)
	require.Equal(t, provider.Revoke{MessageID: "m1"}, in.events[1].(*provider.Message).Content)
}
