package sandboxes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// simulated is what a simulated contact writes: `{from, pushName?, group?, type, …}`.
// The contact's name may be called name, too, where the type has no such member.
type simulated struct{ members map[string]json.RawMessage }

// UnmarshalJSON keeps the members for decode.
func (m *simulated) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &m.members); err != nil {
		return &httpapi.MemberError{At: "body", Message: "must be an object"}
	}
	return nil
}

// decode splits who writes, and where, from what.
func (m *simulated) decode() (phone sandbox.Phone, content provider.Content, err error) {
	rest := maps.Clone(m.members)
	who := map[string]*string{"from": &phone.Name, "pushName": &phone.PushName, "group": &phone.Group}
	if _, named := rest["pushName"]; !named && string(rest["type"]) != `"location"` {
		who["name"] = &phone.PushName
	}
	for _, name := range slices.Sorted(maps.Keys(who)) {
		if _, given := rest[name]; !given {
			continue
		}
		delete(rest, name)
		if *who[name], err = text(m.members, name); err != nil {
			return phone, nil, err
		}
	}
	phone.Name, phone.Group = simulatedID(phone.Name), simulatedID(phone.Group)
	if phone.Name == "" {
		return phone, nil, httpapi.Invalid("body.from", "is required")
	}
	if err := contactName("body.from", phone.Name, false); err != nil {
		return phone, nil, err
	}
	if phone.Group != "" {
		if err := contactName("body.group", phone.Group, true); err != nil {
			return phone, nil, err
		}
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return phone, nil, err
	}
	content, err = messaging.DecodeIncoming(raw)
	if bad, ok := errors.AsType[*messaging.Invalid](err); ok {
		err = httpapi.Invalid("body."+strings.TrimPrefix(bad.Field, "message."), bad.Message)
	}
	return phone, content, err
}

// sandboxAims checks what an edit, a deletion or a reaction of a contact is
// about, and names it as the network does.
func (a *API) sandboxAims(ctx context.Context, c httpapi.Call, phone sandbox.Phone, content provider.Content) (provider.Content, error) {
	const at = "body.messageId"
	id := ""
	switch v := content.(type) {
	case provider.Edit:
		id = v.MessageID
	case provider.Revoke:
		id = v.MessageID
	case provider.Reaction:
		id = v.MessageID
	default:
		return content, nil
	}
	item, err := a.Messaging.For(c.Account).Screen().Get(ctx, phone.Reference, cmp.Or(phone.Group, phone.Name), id)
	if errors.Is(err, messaging.ErrNotFound) || err == nil && item.Deleted {
		return nil, httpapi.Invalid(at, "must be the id of a message on this contact's phone")
	}
	if err != nil {
		return nil, err
	}
	if r, is := content.(provider.Reaction); is {
		r.MessageID = item.ID
		return r, nil
	}
	var words struct {
		Participant *messaging.Participant
		Location    json.RawMessage
		Reply       json.RawMessage
	}
	if err := json.Unmarshal(item.Content, &words); err != nil {
		return nil, err
	}
	author, err := sandbox.New().Address(phone.Name)
	if err != nil {
		return nil, err
	}
	if item.Direction != "out" || words.Participant != nil && words.Participant.RemoteJID != author.RemoteJID() {
		return nil, httpapi.Invalid(at, "must be the id of a message from this contact")
	}
	edit, is := content.(provider.Edit)
	if !is {
		return provider.Revoke{MessageID: item.ID}, nil
	}
	if words.Location != nil || words.Reply != nil {
		return nil, httpapi.Invalid(at, "must be the id of a message with a text or a caption")
	}
	edit.MessageID = item.ID
	return edit, nil
}

// simulatedID is the chat id, or the name, of a contact or a group that is named
// by its remoteJid, too.
func simulatedID(id string) string {
	if name, ok := strings.CutSuffix(id, "::single"); ok {
		return name
	}
	if name, ok := strings.CutSuffix(id, "::group"); ok {
		return name + "@g.us"
	}
	return id
}

// contactName refuses what no simulated contact can be called, or no group.
func contactName(location, name string, group bool) error {
	addr, err := sandbox.New().Address(name)
	var bad *provider.BadRecipient
	switch {
	case errors.As(err, &bad):
		return httpapi.Invalid(location, bad.Message)
	case err == nil && addr.Group && !group:
		return httpapi.Invalid(location, "must be a contact, not a group")
	case err == nil && !addr.Group && group:
		return httpapi.Invalid(location, "must be the chat id of a group")
	}
	return err
}

// text reads a member that must be a string when it is there.
func text(members map[string]json.RawMessage, name string) (string, error) {
	raw, ok := members[name]
	if !ok {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || len(s) > 200 {
		return "", httpapi.Invalid("body."+name, "must be a string of at most 200 bytes")
	}
	return s, nil
}

// Schema describes the types with who writes beside them.
func (simulated) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Variants{
		Prefix: "Simulated", Names: messaging.IncomingTypes(), Types: view.ContentSchemas, Examples: view.ContentExamples,
		Common: map[string]*huma.Schema{
			"from":     {Type: huma.TypeString, Description: "Id of the simulated contact: ana writes from ana@sandbox.", Examples: []any{"ana"}},
			"pushName": {Type: huma.TypeString, Description: "Name that the contact shows. Default: its previous name."},
			"name":     {Type: huma.TypeString, Description: "With a location, the name of the place. Otherwise the same as pushName."},
			"group":    {Type: huma.TypeString, Description: "Chat id of the group to write in. If absent, it writes to the reference."},
		},
		Required: []string{"from"},
	}.Schema(r)
}
