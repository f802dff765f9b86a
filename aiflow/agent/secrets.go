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

// tellsSecrets says whether what leaves to home may hold what is private, on
// the word of a person who may not have it. The contact may have what is of the
// contact's own chat; other strangers may not.
func (w *worker) tellsSecrets(home string) bool {
	others := w.hearsOthers()
	seen := others || w.r.Run.Chat.ID != ""
	return slices.ContainsFunc(w.secrets(), func(s secret) bool {
		if home != "" && s.source == home {
			return false
		}
		return others || seen && !s.shared
	})
}

// secrets are what private things the agent was told, now or in an earlier run
// that it remembers.
func (w *worker) secrets() []secret {
	var out []secret
	if w.req.Secret {
		out = append(out, secret{})
	}
	if w.req.Filled { // the flow has put in what it had
		out = append(out, secret{shared: true})
	}
	for _, e := range w.entries {
		if e.Kind == kindTool && e.asked.Private && e.Status == statusDone && !e.came.refusal() {
			out = append(out, secret{e.asked.Source, e.asked.Shared, e.asked.Others})
		}
	}
	return append(out, w.recalled()...)
}

// recalled is what was looked up in an earlier run and is remembered: by a tool
// that is private or not known any more. Of a summary it is not known what it is
// from.
func (w *worker) recalled() (out []secret) {
	for _, name := range w.earlierTools() {
		switch t := w.tools[name]; {
		case t == nil:
			out = append(out, secret{})
		case t.Private:
			out = append(out, secret{t.Source, t.Shared, t.Others})
		}
	}
	if w.session.Note == "" {
		return out
	}
	for _, t := range w.tools {
		if t.Private {
			out = append(out, secret{t.Source, t.Shared, t.Others})
		}
	}
	return out
}

// earlierTools are the names of the tools whose results are remembered from
// earlier runs.
func (w *worker) earlierTools() (out []string) {
	names := map[string]string{}
	for _, m := range w.begin[:w.earlier] {
		for _, c := range m.Calls {
			names[c.ID] = c.Name
		}
		for _, r := range m.Results {
			if name := names[r.CallID]; r.Content != notMade && name != toolFinish && name != toolHandoff {
				out = append(out, name)
			}
		}
	}
	return out
}

// hearsOthers says whether something that the agent was told may be the word of
// a stranger other than the contact: the result of a tool, what an agent said
// that began the run, and what a flow without a chat has put in.
func (w *worker) hearsOthers() bool {
	if w.session.Depth > 1 || w.req.Filled && w.r.Run.Chat.ID == "" {
		return true
	}
	stranger := func(t *tool) bool { return t == nil || t.Untrusted && !t.Shared }
	return slices.ContainsFunc(w.entries, func(e *entry) bool {
		return e.Kind == kindTool && e.asked.Untrusted && !e.asked.Shared && e.Status == statusDone && !e.came.refusal()
	}) || slices.ContainsFunc(w.earlierTools(), func(name string) bool {
		return stranger(w.tools[name])
	}) || w.session.Note != "" && slices.ContainsFunc(slices.Collect(maps.Values(w.tools)), stranger)
}

// tellsOfOthers says whether what the contact is told may hold what is of other
// contacts.
func (w *worker) tellsOfOthers() bool {
	return w.r.Run.Chat.ID != "" && slices.ContainsFunc(w.secrets(), func(s secret) bool { return s.others })
}
