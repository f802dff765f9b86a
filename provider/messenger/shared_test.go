package messenger_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/messenger"
)

// expectation is what a correct parser makes of an item of a fixture, in the
// form of the fixtures' own README.
type expectation = map[string]any

// strict are the members that every expectation has.
var strict = []string{"kind", "id", "from", "type", "text", "timestamp", "status"}

// ignored are members that the model leaves in the raw body, or drops: what
// a template was made of, what only says the same again, what a plugin called
// somebody.
var ignored = []string{
	"template_type", "booking_id", "reel_video_id", "id", "reaction", "commands", "code", "user_ref", "roles", "advisory",
}

// fixture is one of the shared ones.
type fixture struct{ Name, Platform, Kind, Method, Path string }

// fixtures are those of the Messenger Platform.
func fixtures(t *testing.T, kind string) []fixture {
	t.Helper()
	var index []fixture
	load(t, "../index", &index)
	return slices.DeleteFunc(index, func(x fixture) bool { return x.Platform != "messenger" || x.Kind != kind })
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures", "messenger", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

// TestSharedCallbacks holds the parser to every callback that the fixtures
// have an expectation for: to the strict members, and to the others that our
// model keeps, in both directions.
func TestSharedCallbacks(t *testing.T) {
	t.Parallel()
	files, items, members := 0, 0, 0
	for _, x := range fixtures(t, "webhook") {
		var body json.RawMessage
		var want []expectation
		load(t, x.Name, &body)
		load(t, x.Name+".expect", &want)
		got := translate(t, body)
		require.Len(t, got, len(want), x.Name)
		for i := range want {
			require.Equal(t, stored(want[i], got[i]), got[i], x.Name)
			members += len(got[i])
		}
		files, items = files+1, items+len(want)
	}
	t.Logf("%d callbacks, %d events, %d members", files, items, members)
	require.GreaterOrEqual(t, files, 55)
}

// stored is what of an expectation the model keeps. Strict members stay.
func stored(want, got expectation) expectation {
	out := maps.Clone(want)
	maps.DeleteFunc(out, func(name string, _ any) bool {
		_, has := got[name]
		return !has && slices.Contains(ignored, name) && !slices.Contains(strict, name)
	})
	if list, is := out["attachments"].([]any); is {
		all := slices.Clone(list)
		for i := range all {
			var own expectation
			if have, _ := got["attachments"].([]any); i < len(have) {
				own = have[i].(expectation)
			}
			one := maps.Clone(all[i].(expectation))
			maps.DeleteFunc(one, func(name string, _ any) bool {
				_, has := own[name]
				return !has && slices.Contains(ignored, name)
			})
			all[i] = one
		}
		out["attachments"] = all
	}
	return out
}

// translate reads a callback and puts its events into the fixtures' form: what
// came as one item and became several events is one again.
func translate(t *testing.T, body []byte) []expectation {
	t.Helper()
	p, out := messenger.New(nil), []form{}
	seen := map[string]bool{}
	parts, err := p.Route(body)
	require.NoError(t, err)
	for _, part := range parts {
		events, bad := p.Parse(part)
		require.Empty(t, bad)
		for _, e := range events {
			x := expect(e, part.NetworkID)
			if key := x.key(t); seen[key] {
				continue
			} else {
				seen[key] = true
			}
			if n := len(out); n == 0 || !out[n-1].takes(x) {
				out = append(out, x)
			}
		}
	}
	whole := make([]expectation, len(out))
	for i, x := range out {
		whole[i] = x.whole(t)
	}
	return whole
}

type form expectation

// key tells equal events apart from others.
func (x form) key(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(x)
	require.NoError(t, err)
	return string(raw)
}

// takes adds an event that was of the same item.
func (x form) takes(o form) bool {
	switch {
	case x["kind"] != o["kind"] || x["timestamp"] != o["timestamp"] || x["from"] != o["from"] || x["id"] != o["id"]:
		return false
	case o["attachments"] != nil:
		x["attachments"] = append(x["attachments"].([]form), o["attachments"].([]form)...)
	case o["watermark"] != nil:
		x["watermark"] = o["watermark"]
	}
	return true
}

// whole adds the strict members that are missing and gives every value the
// type that JSON has for it.
func (x form) whole(t *testing.T) expectation {
	t.Helper()
	for _, name := range strict {
		if _, ok := x[name]; !ok {
			x[name] = nil
		}
	}
	var out expectation
	require.NoError(t, json.Unmarshal([]byte(x.key(t)), &out))
	return out
}

// put sets a member unless it is empty.
func (x form) put(name, value string) {
	if value != "" {
		x[name] = value
	}
}

func (x form) at(name string, at time.Time) {
	if !at.IsZero() {
		x[name] = at.Format("2006-01-02T15:04:05.000Z07:00")
	}
}

// between says who wrote, when, and to whom: to the other of the contact and
// the page.
func (x form) between(from string, chat provider.Address, page string, at time.Time) {
	to := page
	if from == page {
		to = chat.PSID
	}
	x.put("from", from)
	x.put("to", to)
	x.put("page_id", page)
	x.at("timestamp", at)
}

// expect translates an event of a page.
func expect(event provider.Event, page string) form {
	x := form{}
	switch e := event.(type) {
	case *provider.Message:
		x.message(e, page)
	case *provider.StatusChange:
		x.between(e.To.PSID, e.To, page, e.At)
		x["kind"], x["status"] = "read", "read"
		if x.put("id", e.MessageID); e.Status == provider.StatusDelivered {
			x["kind"], x["status"] = "delivery", "delivered"
			if delete(x, "id"); e.MessageID != "" {
				x["mids"] = []string{e.MessageID}
			}
		}
		x.at("watermark", e.UpTo)
	case *provider.ContactChange:
		x.between(e.Chat.PSID, e.Chat, page, e.At)
		x["kind"], x["status"] = e.Kind, string(e.What)
	case *provider.Handover:
		x.between(e.Chat.PSID, e.Chat, page, e.At)
		x["kind"], x["type"] = e.Kind, e.What
		x.put("previous_app", e.From)
		if e.Chat.ChatID != "" {
			x.put("new_app", e.To)
		}
		x.put("metadata", e.Metadata)
	case *provider.Health:
		x.between("", provider.Address{}, page, e.At)
		x["kind"], x["status"], x["text"] = e.Kind, e.State, e.Detail
	case *provider.Raw: // what nobody interprets is all there
		var item struct {
			Sender    struct{ ID string }
			Timestamp int64
		}
		_ = json.Unmarshal(e.Body, &item)
		x.between(item.Sender.ID, provider.Address{}, page, time.UnixMilli(item.Timestamp).UTC())
		x["kind"], x["type"] = "ignored", e.Kind
	}
	return x
}

func (x form) message(m *provider.Message, page string) {
	x["kind"] = "message"
	if m.Mine {
		x["kind"] = "echo"
		x.put("app_id", m.App)
		x.put("metadata", m.OwnID)
	}
	id, _, _ := strings.Cut(m.ID, "#") // what follows is ours
	x.put("id", id)
	x.between(m.From.PSID, m.Chat, page, m.At)
	x.put("reply_to", m.ReplyTo)
	if m.Standby {
		x["standby"] = true
	}
	x.referral(m.Referral)
	x.content(m)
}

func (x form) referral(r *provider.Referral) {
	if r == nil {
		return
	}
	x.put("ref", r.Ref)
	switch r.Source {
	case "optin":
	case "product":
		x.put("product_id", r.SourceID)
	default:
		var body struct{ Type string }
		_ = json.Unmarshal(r.Body, &body)
		x.put("referral_source", r.Source)
		x.put("referral_type", body.Type)
		x.put("ad_id", r.SourceID)
	}
}

func (x form) content(m *provider.Message) {
	switch c := m.Content.(type) {
	case provider.Text:
		x["type"] = "text"
		x.put("text", c.Text)
	case provider.Reply:
		x["type"] = "text"
		if c.To == provider.ReplyPostback {
			x["kind"], x["type"] = "postback", "postback"
		}
		x.put("payload", c.ID)
		x.put("text", c.Title)
	case provider.Reaction:
		x["kind"], x["type"], x["status"] = "reaction", "reaction", "react"
		x["reaction_to"], x["emoji"] = c.MessageID, c.Emoji
	case provider.Revoke:
		x["kind"], x["id"] = "revoke", c.MessageID
	case provider.Opened:
		x["kind"] = "referral"
		if m.Referral.Source == "optin" {
			x["kind"] = "optin"
		}
	case provider.Unknown:
		x["type"] = "unsupported"
		if c.Kind != "" {
			x.attached(form{"type": c.Kind})
		}
	case provider.Location:
		x.attached(form{"type": "location", "lat": c.Latitude, "long": c.Longitude})
	case provider.Shared:
		one := form{"type": c.Kind}
		one.put("url", c.URL)
		one.put("title", c.Title)
		x.put("text", c.Text)
		x.attached(one)
	case provider.Media:
		x.put("text", c.Caption)
		x.file(c, m.At)
	}
}

func (x form) attached(all ...form) {
	x["type"], x["attachments"] = all[0]["type"], all
}

// Until June 2026 stickers came as images, and until September as both.
var (
	stickers   = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	noMoreBoth = time.Date(2026, 8, 30, 0, 0, 0, 0, time.UTC)
)

func (x form) file(c provider.Media, at time.Time) {
	as := func(kind string) form {
		one := form{"type": kind}
		one.put("url", c.URL)
		one.put("sticker_id", c.ID)
		return one
	}
	kind := string(c.Kind)
	switch {
	case c.Kind == provider.Document:
		kind = "file"
	case c.Kind == provider.Sticker && at.Before(stickers):
		kind = "image"
	case c.Kind == provider.Sticker && at.Before(noMoreBoth):
		x.attached(as("sticker"), as("image"))
		return
	}
	x.attached(as(kind))
}
