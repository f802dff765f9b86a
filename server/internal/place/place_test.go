package place_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/internal/place"
)

type id int64

type filter struct {
	Reference id `query:"reference"`
}

type scope struct {
	Reference id     `json:"reference,omitempty"`
	Bot       string `json:"bot,omitempty"`
}

type input struct {
	filter
	Filter
	Bot  string `path:"botId"`
	Body *struct {
		Reference id      `json:"reference"`
		Scope     scope   `json:"scope,omitzero"`
		Chats     []scope `json:"chats,omitempty"`
		Name      *string `json:"name,omitempty"`
		Text      float64 `json:"text"`
	}
}

// Filter is embedded where its fields can be set.
type Filter struct {
	Chat string `query:"chat"`
}

func TestPlace(t *testing.T) {
	t.Parallel()
	values := func(in *input, location string) []any {
		t.Helper()
		p, err := place.Find(reflect.TypeFor[input](), location)
		require.NoError(t, err, location)
		out := []any{}
		p.Each(in, func(v reflect.Value) { out = append(out, v.Interface()) })
		return out
	}
	in := &input{Bot: "b", Filter: Filter{"c"}}
	require.Equal(t, []any{"b"}, values(in, "path.botId"))
	require.Equal(t, []any{"c"}, values(in, "query.chat"))
	require.Empty(t, values(in, "body.reference"), "there is no body")

	in.Body = reflect.New(reflect.TypeOf(in.Body).Elem()).Interface().(*struct {
		Reference id      `json:"reference"`
		Scope     scope   `json:"scope,omitzero"`
		Chats     []scope `json:"chats,omitempty"`
		Name      *string `json:"name,omitempty"`
		Text      float64 `json:"text"`
	})
	in.Body.Scope.Bot, in.Body.Chats = "x", []scope{{Reference: 1}, {Reference: 2}}
	require.Equal(t, []any{"x"}, values(in, "body.scope.bot"))
	require.Equal(t, []any{id(1), id(2)}, values(in, "body.chats.reference"))
	require.Empty(t, values(in, "body.name"))
	p, err := place.Find(reflect.TypeFor[input](), "body.chats.reference")
	require.NoError(t, err)
	p.Each(in, func(v reflect.Value) { v.SetInt(7) })
	require.Equal(t, []scope{{Reference: 7}, {Reference: 7}}, in.Body.Chats)

	for _, location := range []string{"", "body", "query", "path.reference", "query.botId", "query.chat.id", "body.text", "body.scope", "body.nothing", "body.reference.x", "header.chat"} {
		_, err := place.Find(reflect.TypeFor[input](), location)
		require.Error(t, err, location)
	}
}
