package messaging_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// world is one reference and what really happens on it, in its order.
type world struct {
	r      *rand.Rand
	ref    provider.ReferenceID
	at     time.Time
	n      int
	people []*human
	deeds  []deed
}

// human is a contact, or a group, with all names that it ever has.
type human struct {
	phones, users []string // the last one is the present one
	name          string
	group         bool
	ids           []string // of messages that may get a status or an answer
	own           []string // those of them that the account wrote
}

// deed is something that happens, as the network reports it.
type deed struct {
	who *human
	at  time.Time
	ev  provider.Event
}

func newWorld(r *rand.Rand, ref provider.ReferenceID) *world {
	w := &world{r: r, ref: ref, at: epoch.Add(-90 * 24 * time.Hour)}
	for range 8 {
		w.n++
		h := &human{phones: []string{fmt.Sprintf("%d%05d", ref, w.n)}, name: "P0"}
		if w.n%3 == 0 {
			h.users = []string{fmt.Sprintf("u.%d.%d", ref, w.n)}
		}
		w.people = append(w.people, h)
		w.hears(h, h.address(true)) // so that all its names are known
	}
	w.people = append(w.people, &human{phones: []string{fmt.Sprintf("g%d@g.us", ref)}, group: true})
	return w
}

// address is what the network calls the contact now.
func (h *human) address(whole bool) provider.Address {
	id := h.phones[len(h.phones)-1]
	if h.group {
		return provider.Address{ChatID: id, Group: true}
	}
	a := provider.Address{ChatID: id, Phone: id}
	if whole && len(h.users) > 0 {
		a.UserID = h.users[len(h.users)-1]
	}
	return a
}

func (w *world) id(kind string) string {
	w.n++
	return fmt.Sprintf("%s.%d.%d", kind, w.ref, w.n)
}

func (w *world) does(h *human, ev provider.Event) {
	w.deeds = append(w.deeds, deed{h, w.at, ev})
}

// step lets time pass and something happen.
func (w *world) step() {
	w.at = w.at.Add(time.Duration(1+w.r.IntN(120)) * time.Second)
	h := w.people[w.r.IntN(len(w.people))]
	chance := w.r.IntN(100)
	switch {
	case chance < 35:
		w.hears(h, w.called(h))
	case chance < 50:
		w.echoes(h)
	case chance < 80:
		w.reports(h)
	case chance < 85:
		w.remembers(h)
	case h.group:
		w.does(h, &provider.GroupChange{Raw: w.raw("group"), Chat: h.address(true), At: w.at, Subject: w.id("subject")})
	case chance < 90:
		w.calls(h)
	case chance < 93:
		w.moves(h)
	case chance < 97:
		what := []provider.ContactChangeKind{provider.ContactOptedOut, provider.ContactOptedIn}[w.r.IntN(2)]
		w.does(h, &provider.ContactChange{Raw: w.raw("preference"), What: what, Chat: w.called(h), At: w.at})
	case chance < 99:
		w.does(h, &provider.ContactChange{Raw: w.raw("book"), What: provider.ContactSaved, Chat: w.called(h), At: w.at, Name: w.id("book")})
	default:
		w.does(h, &provider.ContactChange{Raw: w.raw("book"), What: provider.ContactForgotten, Chat: w.called(h), At: w.at})
	}
}

func (w *world) raw(kind string) provider.Raw {
	return provider.Raw{ID: w.id("raw"), Kind: kind, Body: []byte(`{}`)}
}

// called is one of the ways in which the network names somebody.
func (w *world) called(h *human) provider.Address {
	a := h.address(w.r.IntN(2) == 0)
	if a.UserID != "" && w.r.IntN(5) == 0 {
		return provider.Address{ChatID: a.UserID, UserID: a.UserID}
	}
	return a
}

func (w *world) message(h *human, kind string, chat provider.Address) *provider.Message {
	m := &provider.Message{ID: w.id(kind), Chat: chat, From: provider.Contact{Address: chat}, At: w.at, Content: w.content(h)}
	if _, edit := m.Content.(provider.Text); edit && len(h.ids) > 0 && w.r.IntN(6) == 0 {
		m.Edits = h.ids[w.r.IntN(len(h.ids))]
	}
	return m
}

func (w *world) content(h *human) provider.Content {
	if len(h.ids) == 0 {
		return provider.Text{Text: w.id("text")}
	}
	of := h.ids[w.r.IntN(len(h.ids))]
	switch w.r.IntN(8) {
	case 0:
		return provider.Reaction{MessageID: of, Emoji: []string{"👍", "❤", ""}[w.r.IntN(3)]}
	case 1:
		return provider.Revoke{MessageID: of}
	case 2:
		return provider.Reply{ID: "yes", Title: w.id("title")}
	default:
		return provider.Text{Text: w.id("text")}
	}
}

func (w *world) hears(h *human, chat provider.Address) {
	m := w.message(h, "in", chat)
	if h.group {
		m.From = provider.Contact{Address: w.people[0].address(false), Name: "Member"}
	} else {
		if w.r.IntN(10) == 0 {
			h.name = w.id("name")
		}
		m.From.Name = h.name
	}
	h.ids = append(h.ids, m.ID)
	w.does(h, m)
}

func (w *world) echoes(h *human) {
	m := w.message(h, "echo", w.called(h))
	m.Mine, m.From = true, provider.Contact{Address: provider.Address{ChatID: "15550000000", Phone: "15550000000"}}
	h.ids, h.own = append(h.ids, m.ID), append(h.own, m.ID)
	w.does(h, m)
}

// reports tells of a message what may be true, or was long ago.
func (w *world) reports(h *human) {
	if len(h.ids) == 0 {
		return
	}
	s := &provider.StatusChange{MessageID: h.ids[w.r.IntN(len(h.ids))], Status: provider.StatusRead, At: w.at}
	if len(h.own) > 0 && w.r.IntN(4) > 0 {
		s.MessageID = h.own[w.r.IntN(len(h.own))]
		s.Status = provider.StatusSending + provider.Status(w.r.IntN(5))
		s.To = w.called(h)
	}
	if s.Status == provider.StatusFail {
		s.Error = &provider.Failure{Code: "131026", Message: "Undeliverable"}
	}
	w.does(h, s)
}

// remembers imports a message from before, or one that is known.
func (w *world) remembers(h *human) {
	if w.r.IntN(2) == 0 {
		for _, d := range slices.Backward(w.deeds) {
			if m, ok := d.ev.(*provider.Message); ok && d.who == h {
				old := *m
				old.Historical = true
				w.does(h, &old)
				return
			}
		}
	}
	m := w.message(h, "old", h.address(false))
	w.n++
	m.At, m.Historical = epoch.Add(-400*24*time.Hour).Add(time.Duration(w.n)*time.Minute), true
	m.Mine = w.r.IntN(2) == 0
	w.does(h, m)
}

// calls lets a call take all its steps.
func (w *world) calls(h *human) {
	id, mine := w.id("call"), w.r.IntN(2) == 0
	steps := [][]provider.CallStatus{
		{provider.CallAccepted, provider.CallEnded}, {provider.CallAccepted, provider.CallRejected}, {provider.CallMissed},
	}[w.r.IntN(3)]
	for _, s := range append([]provider.CallStatus{provider.CallRinging, provider.CallRinging}, steps...) { // it rings in two reports
		w.at = w.at.Add(time.Second)
		w.does(h, &provider.Call{Raw: w.raw("call"), CallID: id, Chat: h.address(true), Mine: mine, Status: s, At: w.at})
	}
}

// moves gives somebody another number or user id.
func (w *world) moves(h *human) {
	before := h.address(true)
	if len(h.users) > 0 && w.r.IntN(2) == 0 {
		h.users = append(h.users, w.id("u"))
	} else if len(h.phones) < 4 {
		w.n++
		h.phones = append(h.phones, fmt.Sprintf("%d%05d", w.ref, w.n))
	}
	w.does(h, &provider.ContactChange{Raw: w.raw("moved"), What: provider.ContactMoved, Chat: before, At: w.at, To: h.address(true)})
}
