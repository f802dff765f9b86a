package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	raw := []byte(" {\n\"a\" : 1 , \"b\":\"}\\\"{,\" ,\"c\\u0064\":[1,{\"x\":\"]\"}],\"a\":null,\"e\":{}, \"f\":-1.5e3 }\n")
	require.True(t, json.Valid(raw))
	var got []string
	for name, value := range jsonscan.Members(raw) {
		got = append(got, string(name)+"="+string(value))
	}
	require.Equal(t, []string{"a=1", `b="}\"{,"`, `cd=[1,{"x":"]"}]`, "a=null", "e={}", "f=-1.5e3"}, got)

	require.Equal(t, "1", string(jsonscan.Get(raw, "a")), "the first of two")
	require.Nil(t, jsonscan.Get(raw, "nothing"))
	for range jsonscan.Members(raw) {
		break // ends the walk
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	var got []string
	for value := range jsonscan.Elements([]byte(` [ 1 , "a,]" ,[ ] ,{"a":[2]}, true ] `)) {
		got = append(got, string(value))
	}
	require.Equal(t, []string{"1", `"a,]"`, "[ ]", `{"a":[2]}`, "true"}, got)
	for _, none := range []string{`[]`, `[ ]`, `{}`, `{"a":1}`, `"[1]"`, `null`, `12`} {
		for range jsonscan.Elements([]byte(none)) {
			require.Fail(t, "an element", none)
		}
	}
	for _, none := range []string{`{}`, `{ }`, `[]`, `[{"a":1}]`, `"{}"`, `null`} {
		for range jsonscan.Members([]byte(none)) {
			require.Fail(t, "a member", none)
		}
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	for raw, kind := range map[string]byte{` {}`: '{', `[]`: '[', "\n\"\"": '"', `true`: 't', `null`: 'n', `-1`: '-', `7`: '7', ``: 0, ` `: 0} {
		require.Equal(t, kind, jsonscan.Kind([]byte(raw)), raw)
	}
}

func TestDeepNestingCostsNothing(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	require.Equal(t, deep, string(jsonscan.Get([]byte(`{"x":`+deep+`,"y":1}`), "x")))
}

// FuzzScan holds the walk against encoding/json.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"b",{"c":null}],"d":{}}`, `[1,[2,[3]],"\"]"]`, `{"a"`, `[`, `{"a":`, `{"\`, `[,]`, `{"a":}`, `"`, "{\"\xb8\":{}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		members, elements := map[string]json.RawMessage{}, []json.RawMessage{}
		for name, value := range jsonscan.Members(raw) {
			members[string(name)] = value
		}
		for value := range jsonscan.Elements(raw) {
			elements = append(elements, value)
		}
		if !json.Valid(raw) {
			return // it only had to end
		}
		switch jsonscan.Kind(raw) {
		case '{':
			var want map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Len(t, members, len(want))
			for name, value := range want {
				require.True(t, bytes.Equal(value, members[name]), name)
			}
		case '[':
			var want []json.RawMessage
			require.NoError(t, json.Unmarshal(raw, &want))
			require.Len(t, elements, len(want))
			for i := range want {
				require.True(t, bytes.Equal(want[i], elements[i]))
			}
		default:
			require.Empty(t, members)
			require.Empty(t, elements)
		}
	})
}
