package messaging

import (
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// admitReport makes a report fit for storing. One that does not say of whom or
// of what it is remains as the network gave it, and nothing follows from it.
func admitReport(e provider.Event) provider.Event {
	r := *provider.RawOf(e)
	r.Body, r.ID, r.Kind = cleanJSON(r.Body), clean(r.ID), cut(clean(r.Kind), longestKind)
	if r.ID == "" || len(r.ID) > longest {
		r.ID = digest(r.Body)
	}
	var admitted provider.Event
	switch e := e.(type) {
	case *provider.Call:
		admitted = admitCall(*e, r)
	case *provider.ContactChange:
		admitted = admitContact(*e, r)
	case *provider.GroupChange:
		admitted = admitGroup(*e, r)
	case *provider.Handover:
		admitted = admitHandover(*e, r)
	case *provider.TemplateChange:
		admitted = admitTemplate(*e, r)
	case *provider.Health:
		c := *e
		c.Raw, c.At = r, admitTime(c.At)
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

func admitCall(c provider.Call, r provider.Raw) provider.Event {
	c.Raw, c.CallID, c.At = r, clean(c.CallID), admitTime(c.At)
	c.Chat, c.From = cleanAddress(c.Chat), cleanContact(c.From)
	if !named(c.CallID) || !named(c.Chat.ChatID) || callSteps[c.Status] == 0 {
		return nil
	}
	return &c
}

func admitContact(c provider.ContactChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Name = r, admitTime(c.At), cut(clean(c.Name), longestName)
	c.Chat, c.To = cleanAddress(c.Chat), cleanAddress(c.To)
	if !named(c.Chat.ChatID) || c.What == provider.ContactMoved && !named(c.To.ChatID) {
		return nil
	}
	return &c
}

func admitGroup(c provider.GroupChange, r provider.Raw) provider.Event {
	c.Raw, c.At, c.Subject = r, admitTime(c.At), cut(clean(c.Subject), longestName)
	c.Chat = cleanAddress(c.Chat)
	if !named(c.Chat.ChatID) {
		return nil
	}
	return &c
}

func admitTemplate(c provider.TemplateChange, r provider.Raw) provider.Event {
	c.Raw, c.At = r, admitTime(c.At)
	for _, s := range []*string{
		&c.TemplateID, &c.Name, &c.Language, &c.Status, &c.Reason, &c.Advice, &c.Quality, &c.Category, &c.Text,
	} {
		*s = clean(*s)
	}
	if len(c.TemplateID) > longest || len(c.Name) > longest || len(c.Language) > longest {
		return nil
	}
	return &c
}

// named says whether an id is there and fits into an index.
func named(id string) bool { return id != "" && len(id) <= longest }

// admitTime forgets a time that no column could hold.
func admitTime(at time.Time) time.Time {
	if y := at.Year(); y < 1970 || y > 9999 {
		return time.Time{}
	}
	return at
}
