package typebot

import (
	"encoding/json"
	"strings"
)

// object reads a JSON object that another program wrote: what is missing, or has another
// form, is zero.
type object struct{ m map[string]any }

func (o object) object(name string) object {
	m, _ := o.m[name].(map[string]any)
	return object{m}
}

func (o object) objects(name string) []object {
	list, _ := o.m[name].([]any)
	out := make([]object, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		out = append(out, object{m})
	}
	return out
}

// text is a text, or a number as it is written.
func (o object) text(name string) string {
	switch v := o.m[name].(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case json.Number:
		return v.String()
	}
	return ""
}

func (o object) number(name string) (float64, bool) {
	n, is := o.m[name].(json.Number)
	if !is {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func (o object) is(name string) bool {
	yes, _ := o.m[name].(bool)
	return yes
}

// truncate cuts a text to so many characters.
func truncate(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit])
	}
	return s
}
