package agent

import (
	"maps"
	"slices"
)

// secret is something private that the agent was told.
type secret struct {
	source string
	shared bool // the contact may know it
	others bool // it is of other contacts
}

// disclosure decides who may learn what an agent was told.
type disclosure struct {
	secret  bool   // the flow says that the instructions are private
	filled  bool   // the flow has put in what it had
	chat    string // id of the run's chat; "": it has none
	session *session
	journal *journal
	tools   *toolbox
}

// leak reports whether what is sent to home may hold private data, sent for a
// person who must not have it. The contact may have the data of the contact's own
// chat; other people may not.
func (d *disclosure) leak(home string) bool {
	others := d.fromOthers()
	seen := others || d.chat != ""
	return slices.ContainsFunc(d.known(), func(s secret) bool {
		if home != "" && s.source == home {
			return false
		}
		return others || seen && !s.shared
	})
}

// known returns the private data that the agent was told, now or in an earlier run
// that it remembers.
func (d *disclosure) known() []secret {
	var out []secret
	if d.secret {
		out = append(out, secret{})
	}
	if d.filled { // the flow has put in what it had
		out = append(out, secret{shared: true})
	}
	for _, e := range d.journal.entries {
		if e.Kind == kindTool && e.asked.Private && e.Status == statusDone && !e.came.refusal() {
			out = append(out, secret{e.asked.Source, e.asked.Shared, e.asked.Others})
		}
	}
	return append(out, d.recalled()...)
}

// recalled returns the private data that the agent remembers from earlier runs:
// results of a tool that is private or no longer known. A summary may be from any
// private tool.
func (d *disclosure) recalled() (out []secret) {
	for _, name := range d.session.earlierTools() {
		switch t := d.tools.byName[name]; {
		case t == nil:
			out = append(out, secret{})
		case t.Private:
			out = append(out, secret{t.Source, t.Shared, t.Others})
		}
	}
	if d.session.Note == "" {
		return out
	}
	for _, t := range d.tools.byName {
		if t.Private {
			out = append(out, secret{t.Source, t.Shared, t.Others})
		}
	}
	return out
}

// fromOthers reports whether something that the agent was told may be from a
// person other than the contact: the result of a tool, what another agent said
// that started the run, or what a flow without a chat has put in.
func (d *disclosure) fromOthers() bool {
	if d.session.Depth > 1 || d.filled && d.chat == "" {
		return true
	}
	stranger := func(t *tool) bool { return t == nil || t.Untrusted && !t.Shared }
	return slices.ContainsFunc(d.journal.entries, func(e *entry) bool {
		return e.Kind == kindTool && e.asked.Untrusted && !e.asked.Shared && e.Status == statusDone && !e.came.refusal()
	}) || slices.ContainsFunc(d.session.earlierTools(), func(name string) bool {
		return stranger(d.tools.byName[name])
	}) || d.session.Note != "" && slices.ContainsFunc(slices.Collect(maps.Values(d.tools.byName)), stranger)
}

// ofOthers reports whether what the contact is told may hold data of other
// contacts.
func (d *disclosure) ofOthers() bool {
	return d.chat != "" && slices.ContainsFunc(d.known(), func(s secret) bool { return s.others })
}
