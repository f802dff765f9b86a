package settings

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Flat returns settings as users write them by their names. It refuses what is
// not a string, a boolean, null or an object of these, naming all of it.
func Flat(in map[string]any) (map[string]string, error) {
	out := map[string]string{}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(in)) {
		members, is := in[name].(map[string]any)
		if !is {
			members = map[string]any{"": in[name]}
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			full := strings.TrimSuffix(name+"."+member, ".")
			v, ok := flatValue(members[member])
			if !ok {
				wrong = append(wrong, &payload.Invalid{Field: "settings." + full, Message: "must be a string, true or false"})
				continue
			}
			out[full] = v
		}
	}
	return out, errors.Join(wrong...)
}

func flatValue(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// Nested returns masked settings as users see them: those of an object in that
// object, where booleans are booleans.
func Nested(p provider.Provider, masked map[string]string) map[string]any {
	out := map[string]any{}
	for _, d := range p.Settings() {
		v, ok := masked[d.Name]
		if !ok {
			continue
		}
		object, member, nested := strings.Cut(d.Name, ".")
		if !nested {
			out[d.Name] = v
			continue
		}
		members, ok := out[object].(map[string]any)
		if !ok {
			members = map[string]any{}
			out[object] = members
		}
		members[member] = v
		if d.Boolean {
			members[member] = v == "true"
		}
	}
	return out
}

// isObject reports whether a kind has settings that are members of name.
func isObject(p provider.Provider, name string) bool {
	return slices.ContainsFunc(p.Settings(), func(d provider.Setting) bool { return strings.HasPrefix(d.Name, name+".") })
}
