package messaging

import (
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// validateReport makes a report fit for storing. One that does not say of whom or
// of what it is remains as the network gave it, and nothing follows from it.
func validateReport(e provider.Event) provider.Event {
	r := *provider.RawOf(e)
	r.Body, r.ID, r.Kind = sanitizeJSON(r.Body), store.Sanitize(r.ID), truncate(store.Sanitize(r.Kind), maxKindLength)
	if r.ID == "" || len(r.ID) > render.MaxTextLength {
		r.ID = digest(r.Body)
	}
	var admitted provider.Event
	switch e := e.(type) {
	case *provider.Call:
		admitted = validateCall(*e, r)
	case *provider.ContactChange:
		admitted = validateContact(*e, r)
	case *provider.GroupChange:
		admitted = validateGroup(*e, r)
	case *provider.Handover:
		admitted = validateHandover(*e, r)
	case *provider.TemplateChange:
		admitted = validateTemplate(*e, r)
	case *provider.Health:
		c := *e
		c.Raw, c.At = r, validateTime(c.At)
		admitted = &c
	case *provider.HistoryProgress:
		c := *e
		c.Raw = r
		admitted = &c
	}
	if admitted == nil {
		return &r
	}
	return admitted
}

func validateCall(c provider.Call, r provider.Raw) provider.Event {
	c.Raw, c.CallID, c.At = r, store.Sanitize(c.CallID), validateTime(c.At)
	c.Chat, c.From = sanitizeAddress(c.Chat), sanitizeContact(c.From)
	if !named(c.CallID) || !named(c.Chat.ChatID) || callSteps[c.Status] == 0 {
		return nil
	}
	return &c
}

func validateContact(c provider.ContactChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Name = r, validateTime(c.At), truncate(store.Sanitize(c.Name), maxNameLength)
	c.Chat, c.To = sanitizeAddress(c.Chat), sanitizeAddress(c.To)
	if !named(c.Chat.ChatID) || c.What == provider.ContactMoved && !named(c.To.ChatID) {
		return nil
	}
	return &c
}

func validateGroup(c provider.GroupChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Subject = r, validateTime(c.At), truncate(store.Sanitize(c.Subject), maxNameLength)
	c.Chat = sanitizeAddress(c.Chat)
	if !named(c.Chat.ChatID) {
		return nil
	}
	return &c
}

func validateTemplate(c provider.TemplateChange, r provider.Raw) provider.Event {
	c.Raw, c.At = r, validateTime(c.At)
	for _, s := range []*string{
		&c.TemplateID, &c.Name, &c.Language, &c.Status, &c.Reason, &c.Advice, &c.Quality, &c.Category, &c.Text,
	} {
		*s = store.Sanitize(*s)
	}
	if len(c.TemplateID) > render.MaxTextLength || len(c.Name) > render.MaxTextLength || len(c.Language) > render.MaxTextLength {
		return nil
	}
	return &c
}

// named says whether an id is there and fits into an index.
func named(id string) bool { return id != "" && len(id) <= render.MaxTextLength }

// validateTime forgets a time that no column could hold.
func validateTime(at time.Time) time.Time {
	if y := at.Year(); y < 1970 || y > 9999 {
		return time.Time{}
	}
	return at
}
