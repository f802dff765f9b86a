package cloud_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCallbacksOnFile reads whole callbacks, and compares every member of what
// comes of them with the file beside.
func TestCallbacksOnFile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/callbacks/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, ".golden.json") {
			continue
		}
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		events, bad := read(t, body)
		read := []any{}
		for _, e := range events {
			read = append(read, shown(reflect.ValueOf(e)))
		}
		for _, b := range bad {
			read = append(read, map[string]any{"Bad": b.Reason})
		}
		got, err := json.MarshalIndent(read, "", "  ")
		require.NoError(t, err)
		golden := strings.TrimSuffix(file, ".json") + ".golden.json"
		if *update {
			require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), file)
	}
}

// shown makes of a value what JSON can show: the members that are not zero,
// with the name of the type where an interface hides it. Raw bodies are left
// out.
func shown(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339)
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
