package cloud_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// expectation is what a correct parser makes of an item of a fixture, in the
// form of the fixtures' own README.
type expectation = map[string]any

// strict are the members that every expectation has.
var strict = []string{"kind", "id", "from", "type", "text", "timestamp", "status"}

// TestSharedCallbacks holds the parser to every callback that the fixtures
// have an expectation for: to the strict members, and to the others that our
// model keeps, in both directions.
func TestSharedCallbacks(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures")
	var index []struct{ Name, Platform, Kind string }
	load(t, filepath.Join(folder, "index.json"), &index)
	files, items, members := 0, 0, 0
	for _, x := range index {
		if x.Platform != "cloud" || x.Kind != "webhook" {
			continue
		}
		body, err := os.ReadFile(filepath.Join(folder, "cloud", x.Name+".json"))
		require.NoError(t, err)
		var want []expectation
		load(t, filepath.Join(folder, "cloud", x.Name+".expect.json"), &want)
		got := translate(t, body)
		require.Len(t, got, len(want), x.Name)
		for i := range want {
			stored := maps.Clone(want[i])
			maps.DeleteFunc(stored, func(name string, _ any) bool {
				_, has := got[i][name]
				return !has && slices.Contains(ignored, name)
			})
			require.Equal(t, stored, got[i], x.Name)
			members += len(stored)
		}
		files, items = files+1, items+len(want)
	}
	t.Logf("%d callbacks, %d events, %d members", files, items, members)
	require.GreaterOrEqual(t, files, 78)
}

// ignored are members that the model may leave in the raw body, or drop: what
// a message cost, what the reference is called in a call to it, and what a
// template's own record says.
var ignored = []string{
	"billable", "pricing_category", "conversation_id", "conversation_expires",
	"participant_user_id", "to", "previous", "title", "footer", "buttons",
}

func load(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

// translate reads a callback and puts its events into the fixtures' form. What
// comes for two references comes once.
func translate(t *testing.T, body []byte) []expectation {
	t.Helper()
	p, seen, out := cloud.New(nil), map[string]bool{}, []expectation{}
	parts, err := p.Route(body)
	require.NoError(t, err)
	for _, part := range parts {
		events, bad := p.Parse(part)
		require.Empty(t, bad)
		for _, e := range events {
			x, id := expect(e)
			if x == nil || seen[id] {
				continue
			}
			seen[id] = true
			put(x, "phone_number_id", part.NetworkID)
			if part.NetworkID == "" {
				put(x, "waba_id", part.Group)
			}
			out = append(out, x.whole(t))
		}
	}
	return out
}

type form expectation

// put sets a member unless it is empty.
func put[T comparable](x form, name string, value T) {
	if value != *new(T) {
		x[name] = value
	}
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
	raw, err := json.Marshal(x)
	require.NoError(t, err)
	var out expectation
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// expect translates an event; nil when the fixtures have no word for it. The
// id tells it from others of one callback.
func expect(event provider.Event) (x form, id string) {
	x = form{}
	if raw := provider.RawOf(event); raw != nil {
		x["kind"], id = raw.Kind, raw.Kind+raw.ID
	}
	switch e := event.(type) {
	case *provider.Message:
		x.message(e)
		id = e.ID
	case *provider.StatusChange:
		x.status(e)
		id = fmt.Sprint(e.MessageID, e.Status, e.Participant)
	case *provider.Call:
		x.call(e)
	case *provider.ContactChange:
		x.contact(e)
	case *provider.GroupChange:
		x.at(e.At)
		put(x, "id", strings.TrimSuffix(e.Chat.ChatID, "@g.us"))
		put(x, "type", e.What)
	case *provider.TemplateChange:
		x.template(e)
	case *provider.Health:
		x.health(e)
	case *provider.HistoryProgress:
		if e.Error == nil {
			return nil, ""
		}
		x["kind"], x["type"] = "error", e.Kind
		x.failure(e.Error)
	}
	return x, id
}

func (x form) at(at time.Time) {
	if !at.IsZero() {
		x["timestamp"] = at.Format(time.RFC3339)
	}
}

// failure sets what an error of its own says.
func (x form) failure(f *provider.Failure) {
	text, _, _ := strings.Cut(f.Message, ": ")
	put(x, "text", text)
	x.code(f)
}

func (x form) code(f *provider.Failure) {
	if f != nil {
		x["error_code"], _ = strconv.Atoi(f.Code)
	}
}

// wire is an address as the network writes it where it means a number.
func wire(a provider.Address) string {
	switch {
	case a.Phone != "":
		return a.Phone
	case a.ChatID == a.UserID:
		return ""
	}
	return strings.TrimSuffix(a.ChatID, "@g.us")
}

func (x form) message(m *provider.Message) {
	x["kind"] = "message"
	switch {
	case m.Historical:
		x["kind"] = "history"
		put(x, "thread", wire(m.Chat))
		if m.Status != provider.StatusPending {
			x["status"] = m.Status.String()
		}
	case m.Mine:
		x["kind"] = "echo"
	case m.Edits != "":
		x["kind"] = "edit"
	}
	x["id"] = m.ID
	x.at(m.At)
	put(x, "from", wire(m.From.Address))
	put(x, "from_user_id", m.From.UserID)
	put(x, "contact_name", m.From.Name)
	put(x, "username", m.From.Username)
	if m.Mine {
		put(x, "to", wire(m.Chat))
	}
	if m.Chat.Group {
		put(x, "group_id", wire(m.Chat))
	}
	put(x, "reply_to", m.ReplyTo)
	put(x, "forwarded", m.Forwarded)
	put(x, "frequently_forwarded", m.FrequentlyForwarded)
	x.code(m.Error)
	if r := m.Referral; r != nil {
		put(x, "referral_source_type", r.Source)
		put(x, "referral_source_id", r.SourceID)
		put(x, "ctwa_clid", r.ClickID)
	}
	x.content(m.Content)
	if m.Edits != "" {
		x["type"], x["original_id"], x["edited_type"] = "edit", m.Edits, x["type"]
	}
}

func (x form) content(content provider.Content) {
	x["type"] = content.Type()
	switch c := content.(type) {
	case provider.Text:
		put(x, "text", c.Text)
	case provider.Media:
		x.media(c)
	case provider.Location:
		x["latitude"], x["longitude"] = c.Latitude, c.Longitude
		put(x, "name", c.Name)
		put(x, "address", c.Address)
		put(x, "url", c.URL)
	case provider.Contacts:
		var cards []any
		for _, card := range c.Contacts {
			phones := []string{}
			for _, p := range card.Phones {
				phones = append(phones, p.Phone)
			}
			cards = append(cards, form{"name": card.Name.Formatted, "phones": phones})
		}
		x["shared_contacts"] = cards
		put(x, "origin", c.Origin)
	case provider.Reaction:
		x["reaction_to"], x["emoji"] = c.MessageID, c.Emoji
	case provider.Revoke:
		x["kind"], x["original_id"] = "revoke", c.MessageID
	case provider.Reply:
		x.reply(c)
	case provider.Form:
		x["type"], x["interactive_type"], x["payload"] = "interactive", "nfm_reply", c.Data
		put(x, "flow_name", c.Name)
		put(x, "text", c.Text)
	case provider.Order:
		items := []any{}
		for _, item := range c.Items {
			items = append(items, form{"product": item.ProductID, "quantity": item.Quantity})
		}
		x["catalog_id"], x["items"] = c.CatalogID, items
		put(x, "text", c.Text)
	case provider.Unknown:
		put(x, "unsupported_type", c.Kind)
	}
}

func (x form) media(m provider.Media) {
	put(x, "text", m.Caption)
	put(x, "media_id", m.ID)
	put(x, "mime_type", m.MIME)
	put(x, "filename", m.FileName)
	put(x, "url", m.URL)
	switch m.Kind {
	case provider.Audio:
		x["voice"] = m.Voice
	case provider.Sticker:
		x["animated"] = m.Animated
	}
}

func (x form) reply(r provider.Reply) {
	put(x, "payload", r.ID)
	put(x, "text", r.Title)
	put(x, "description", r.Description)
	x["type"] = "interactive"
	switch r.To {
	case provider.ReplyTemplate:
		x["type"] = "button"
	case provider.ReplyButton:
		x["interactive_type"] = "button_reply"
	case provider.ReplyRow:
		x["interactive_type"] = "list_reply"
	case provider.ReplyPermission:
		x["interactive_type"] = "call_permission_reply"
		if !r.Until.IsZero() {
			x["expires"] = r.Until.Format(time.RFC3339)
		}
	}
}

func (x form) status(s *provider.StatusChange) {
	x["kind"], x["id"] = "status", s.MessageID
	x["status"] = map[provider.Status]string{
		provider.StatusSending: "sent", provider.StatusDelivered: "delivered", provider.StatusRead: "read",
		provider.StatusPlayed: "played", provider.StatusFail: "failed",
	}[s.Status]
	x.at(s.At)
	x.code(s.Error)
	put(x, "to", wire(s.To))
	put(x, "to_user_id", s.To.UserID)
	if s.To.Group {
		x["recipient_type"] = "group"
	}
	put(x, "callback_data", s.OwnID)
	put(x, "participant", s.Participant)
}

func (x form) call(c *provider.Call) {
	x["id"] = c.CallID
	x.at(c.At)
	put(x, "from", wire(c.From.Address))
	x["direction"] = "USER_INITIATED"
	if c.Mine {
		x["direction"] = "BUSINESS_INITIATED"
		put(x, "to", wire(c.Chat))
	}
	switch c.Status {
	case provider.CallRinging:
		x["type"] = "connect"
	case provider.CallEnded:
		x["type"], x["status"] = "terminate", "COMPLETED"
	}
	put(x, "duration", int(c.Duration.Seconds()))
}

func (x form) contact(c *provider.ContactChange) {
	x.at(c.At)
	put(x, "from", wire(c.Chat))
	put(x, "text", c.Text)
	switch c.What {
	case provider.ContactMoved:
		if c.To.Phone != c.Chat.Phone {
			x["id"], x["type"], x["new_wa_id"] = c.ID, "user_changed_number", c.To.Phone
			break
		}
		x["previous_user_id"], x["current_user_id"] = c.Chat.UserID, c.To.UserID
	case provider.ContactIdentity:
		x["id"], x["type"] = c.ID, "customer_identity_changed"
	case provider.ContactOptedIn:
		x["type"], x["status"] = c.Category, "resume"
	case provider.ContactOptedOut:
		x["type"], x["status"] = c.Category, "stop"
	case provider.ContactSaved:
		x["type"], x["status"], x["text"] = "contact", "add", c.Name
	case provider.ContactForgotten:
		x["type"], x["status"], x["text"] = "contact", "remove", c.Name
	}
}

func (x form) template(c *provider.TemplateChange) {
	x.at(c.At)
	put(x, "id", c.TemplateID)
	put(x, "name", c.Name)
	put(x, "language", c.Language)
	put(x, "text", c.Text)
	put(x, "status", c.Status+c.Quality)
	if c.Status != "" {
		x["reason"] = cmp.Or(c.Reason, "NONE")
	}
	put(x, "category", c.Category)
	if x["status"] == nil && c.Category != "" {
		x["status"] = c.Category
		delete(x, "category")
	}
}

func (x form) health(h *provider.Health) {
	x.at(h.At)
	put(x, "phone", h.Phone)
	put(x, "status", h.State)
	put(x, "limit", h.Limit)
	if n, err := strconv.Atoi(h.Limit); err == nil {
		x["limit"] = n
	}
	put(x, "text", h.Name)
	if h.Error != nil {
		x.failure(h.Error)
	}
}

func TestDigests(t *testing.T) {
	t.Parallel()
	sum := []byte("0123456789abcdef0123456789abcdef")
	for name, c := range map[string]struct {
		wire string
		want []byte
	}{
		"base64":    {"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", sum},
		"digits":    {hex.EncodeToString(sum), sum},
		"too short": {"c2hh", nil},
		"nonsense":  {"%", nil},
		"none":      {"", nil},
	} {
		m := one[*provider.Message](t, change("messages", `"messages":[{"from":"16505551234","id":"m","type":"image","image":{"id":"1","sha256":"`+c.wire+`"}}]`))
		require.Equal(t, c.want, m.Content.(provider.Media).SHA256, name)
	}
}
