package web_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/providertest"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// TestConformance is what every kind of reference holds to, with a reference that was
// linked before.
func TestConformance(t *testing.T) {
	t.Parallel()
	ana := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
	providertest.Run(t, providertest.Harness{
		New: func(t *testing.T) providertest.Setup {
			f := paired(t, testkit.Open(t, testkit.SQLiteURL(t)))
			f.close(t)
			require.NoError(t, f.device.AwaitGone(soon(t)))
			return providertest.Setup{
				Provider: &watched{f.p, ana}, Reference: f.ref, Fail: f.fails,
				Shown: func() []string { return shownBy(ana, f.owner) },
				Say: func(t *testing.T, text string) {
					_, err := ana.SendText(soon(t), f.owner.LID(), text)
					require.NoError(t, err)
				},
				Vote: func(t *testing.T, poll string, options ...string) {
					got := slices.IndexFunc(ana.Messages(), func(m webtest.Message) bool { return m.ID == poll })
					_, err := ana.Polls().Vote(soon(t), &ana.Messages()[got], options...)
					require.NoError(t, err)
				},
			}
		},
		ChatIDs: []string{
			ana.JID().User, "+1 (650) 555-1234", "16505551234@s.whatsapp.net", "16505551234@c.us", "123456789012@lid",
			"120363040000000000@g.us", "16505551234-1400000000@g.us",
		},
		Contents: []provider.Content{
			file(provider.Image, "image/jpeg", []byte("a picture")), file(provider.Video, "video/mp4", []byte("a film")),
			file(provider.Audio, "audio/ogg", []byte("a song")), file(provider.Document, "application/pdf", []byte("a bill")),
			file(provider.Sticker, "image/webp", []byte("a sticker")),
		},
		Junk: []string{"", "ana", "123", "@s.whatsapp.net", "1650555123x@s.whatsapp.net", "status@broadcast", "1@newsletter", "ana@g.us", "1@lid@lid"},
	})
}

// watched is a provider of which a message is sent when the contact has it.
type watched struct {
	*web.Provider
	contact *webtest.Phone
}

func (w *watched) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	s, err := w.Provider.Open(ctx, ref, inbox)
	if err != nil {
		return nil, err
	}
	return &watchedSession{s.(session), w.contact}, nil
}

// session is all that a session can do.
type session interface {
	provider.Session
	provider.Linker
	provider.Reader
	provider.Typist
	provider.MediaFetcher
	provider.GroupManager
	provider.NumberChecker
	provider.CallRejecter
	provider.PasskeyLinker
}

type watchedSession struct {
	session
	contact *webtest.Phone
}

func (s *watchedSession) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	r, err := s.session.Send(ctx, out)
	for err == nil && ctx.Err() == nil && !slices.ContainsFunc(s.contact.Messages(), func(m webtest.Message) bool { return m.ID == out.ID }) {
		runtime.Gosched()
	}
	return r, err
}

// shownBy is what a phone shows of one reference, in order.
func shownBy(p, owner *webtest.Phone) (out []string) {
	for _, m := range p.Messages() {
		if !m.FromMe && !m.Peer && m.From.User == owner.LID().User && m.Text() != "" {
			out = append(out, m.Text())
		}
	}
	return out
}

// fails makes the next message of the reference meet a fault of the network.
func (f *fixture) fails(fault providertest.Fault) bool {
	faults := map[providertest.Fault]webtest.Fault{
		providertest.RateLimited: {Code: 429},
		providertest.Refused:     {Code: 479},
		providertest.Unavailable: {Code: 503},
		providertest.Hanging:     {Lost: true},
	}
	one, ok := faults[fault]
	if ok {
		f.device.Fail(one)
	}
	return ok
}
