package ingest

import (
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/provider"
)

// validateReport makes a report fit for storing. One that does not say of whom or
// of what it is remains as the network gave it, and nothing follows from it.
func validateReport(e provider.Event) provider.Event {
	r := *provider.RawOf(e)
	r.Body, r.ID, r.Kind = sanitize.JSON(r.Body), text.Sanitize(r.ID), text.Truncate(text.Sanitize(r.Kind), sanitize.MaxKindLength)
	if r.ID == "" || len(r.ID) > render.MaxTextLength {
		r.ID = sanitize.Digest(r.Body)
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
		c.Raw, c.At = r, sanitize.Time(c.At)
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
	c.Raw, c.CallID, c.At = r, text.Sanitize(c.CallID), sanitize.Time(c.At)
	c.Chat, c.From = sanitize.Address(c.Chat), sanitize.Contact(c.From)
	if c.Status != provider.CallRejected {
		c.RejectedBy, c.Reply = "", ""
	}
	if !sanitize.IsName(c.CallID) || !sanitize.IsName(c.Chat.ChatID) || callSteps[c.Status] == 0 {
		return nil
	}
	return &c
}

func validateContact(c provider.ContactChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Name = r, sanitize.Time(c.At), text.Truncate(text.Sanitize(c.Name), sanitize.MaxNameLength)
	c.Chat, c.To = sanitize.Address(c.Chat), sanitize.Address(c.To)
	if !sanitize.IsName(c.Chat.ChatID) || c.What == provider.ContactMoved && !sanitize.IsName(c.To.ChatID) {
		return nil
	}
	return &c
}

func validateGroup(c provider.GroupChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Subject = r, sanitize.Time(c.At), text.Truncate(text.Sanitize(c.Subject), sanitize.MaxNameLength)
	c.Chat = sanitize.Address(c.Chat)
	if !sanitize.IsName(c.Chat.ChatID) {
		return nil
	}
	return &c
}

func validateTemplate(c provider.TemplateChange, r provider.Raw) provider.Event {
	c.Raw, c.At = r, sanitize.Time(c.At)
	for _, s := range []*string{
		&c.TemplateID, &c.Name, &c.Language, &c.Status, &c.Reason, &c.Advice, &c.Quality, &c.Category, &c.Text,
	} {
		*s = text.Sanitize(*s)
	}
	if len(c.TemplateID) > render.MaxTextLength || len(c.Name) > render.MaxTextLength || len(c.Language) > render.MaxTextLength {
		return nil
	}
	return &c
}
