package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/links"
)

// noLinks allows no address.
var noLinks = links.New(links.Options{})

// linkRule says to which addresses what the agent says may link: those of the
// server's and the author's hosts, and those that the contact wrote. The result of
// a tool may hold an address that an attacker planted, or one that sends what was
// said to a stranger when it is opened.
func (w *worker) linkRule() *links.Rule {
	o := links.Options{Hosts: w.s.opts.Links, Author: w.req.Author()}
	if w.req.Filled { // what was asked need not be the contact's word
		o.Written = []string{w.req.Said}
	} else {
		for _, m := range w.session.begin {
			if m.Role == llm.RoleUser {
				o.Written = append(o.Written, m.Text())
			}
		}
	}
	for _, e := range w.journal.entries {
		if e.Kind == kindInput && !e.said.Repair {
			o.Written = append(o.Written, e.said.Text)
		}
	}
	return links.New(o)
}

// outward checks the links in what an agent says to a contact.
type outward struct {
	rule    *links.Rule
	filled  bool // the flow has put in what it had
	session *session
	journal *journal
}

// checks reports whether the links are checked: whether the model was told
// something that is not from the author, the contact or the model. Otherwise
// every address in what it says is theirs.
func (o *outward) checks() bool {
	return o.filled || o.session.Note != "" ||
		slices.ContainsFunc(o.session.begin, func(m llm.Message) bool { return m.Role == llm.RoleTool }) ||
		slices.ContainsFunc(o.journal.entries, func(e *entry) bool { return e.Kind == kindTool && e.DoneUS > 0 })
}

// text returns a text as a contact may see it.
func (o *outward) text(text string) string {
	if o.checks() {
		return o.rule.Clean(text)
	}
	return text
}

// value is text for every text in a value.
func (o *outward) value(v any) any {
	if o.checks() {
		return o.rule.CleanValue(v)
	}
	return v
}

// arguments returns the arguments of a call as a contact may see them. If an
// argument is an address that is not allowed, the call is refused: the address
// would be opened.
func (o *outward) arguments(t *tool, raw json.RawMessage) (json.RawMessage, error) {
	if !o.checks() {
		return raw, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return raw, errors.New("they are not valid JSON")
	}
	if where := leading(o.rule, v); where != "" {
		return raw, fmt.Errorf("%s has a host that is not allowed", where)
	}
	out, err := json.Marshal(o.rule.CleanValue(v))
	if err != nil {
		return raw, errors.New("they are not valid JSON")
	}
	if _, err := t.arguments(string(out)); err != nil {
		return raw, errors.New("they have links that are not allowed")
	}
	return canonical(out)
}

// leading names a member of arguments that is an address which is not allowed.
func leading(rule *links.Rule, v any) string {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if s, is := item.(string); is && rule.Leads(s) {
				return noName.ReplaceAllString(name, "_")
			}
			if where := leading(rule, item); where != "" {
				return where
			}
		}
	case []any:
		for _, item := range v {
			if s, is := item.(string); is && rule.Leads(s) {
				return "an item"
			}
			if where := leading(rule, item); where != "" {
				return where
			}
		}
	}
	return ""
}
