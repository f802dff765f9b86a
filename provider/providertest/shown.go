package providertest

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Shown returns the form of an event for golden files: the fields that are not
// zero, with the name of the type where an interface hides it, without raw
// bodies.
func Shown(event provider.Event) any { return shown(reflect.ValueOf(event)) }

func shown(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case provider.Status:
		return x.String()
	case []byte:
		return string(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return map[string]any{v.Type().Elem().Name(): shown(v.Elem())}
	case reflect.Interface:
		return map[string]any{v.Elem().Type().Name(): shown(v.Elem())}
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if v.Field(i).IsZero() || f.Type == reflect.TypeFor[json.RawMessage]() {
				continue
			}
			members[f.Name] = shown(v.Field(i))
		}
		return members
	case reflect.Slice:
		items := []any{}
		for i := range v.Len() {
			items = append(items, shown(v.Index(i)))
		}
		return items
	}
	return v.Interface()
}
