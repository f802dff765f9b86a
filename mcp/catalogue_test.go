package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
)

type node struct {
	Name  string  `json:"name"`
	Below []*node `json:"below"`
}

type answered struct {
	Kept    *string           `json:"kept" doc:"Null while nothing is."`
	Left    *int              `json:"left,omitempty"`
	Tree    node              `json:"tree"`
	Lists   [][]node          `json:"lists"`
	Counts  map[string]uint16 `json:"counts"`
	Own     ownJSON           `json:"own"`
	At      time.Time         `json:"at"`
	Nothing any               `json:"nothing"`
}

type ownJSON struct{ n int }

func (o ownJSON) MarshalJSON() ([]byte, error) { return json.Marshal(o.n) }

// TestSchemas are what models see; the golden file is their review.
func TestSchemas(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	require.NoError(t, mcp.Register(r, mcp.Function[everything, answered]{
		Name: "everything", Title: "Everything", Description: "Has all kinds.", Permission: "chats.read", ReadOnly: true, Idempotent: true,
		Handler: func(context.Context, mcp.Call, everything) (answered, error) { return answered{}, nil },
	}))
	tool := r.Tools()[0]
	require.Equal(t, "Everything", tool.Title)
	require.True(t, tool.ReadOnly)
	require.True(t, tool.Idempotent)
	require.False(t, tool.Destructive)
	golden(t, "input.json", indented(t, tool.Input))
	golden(t, "output.json", indented(t, tool.Output))
	text, err := json.Marshal(r.Functions())
	require.NoError(t, err)
	golden(t, "functions.json", indented(t, text))
	for _, schema := range []json.RawMessage{tool.Input, tool.Output} {
		require.NotContains(t, string(schema), "null\"")
		require.NotContains(t, string(schema), `"type":[`)
	}
	out := call(t, r, ana, "everything", `{"reference":1}`)
	require.JSONEq(t, `{"kept":null,"tree":{"name":"","below":[]},"lists":[],"counts":{},"own":0,"at":"0001-01-01T00:00:00Z","nothing":null}`, string(out.Result))
}

func indented(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, raw, "", "  "))
	return b.String() + "\n"
}

// TestInterfaceShape is the descriptor that the interface of the service
// shows.
func TestInterfaceShape(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	type toggle struct {
		Reference int64  `json:"reference"`
		ChatID    string `json:"chatId"`
		Active    bool   `json:"active"`
	}
	type toggled struct {
		ChatID        string `json:"chatId"`
		Reference     int64  `json:"reference"`
		BotActive     int    `json:"botActive"`
		PreviousState int    `json:"previousState"`
	}
	add(t, r, "toggle_bot", func(context.Context, mcp.Call, toggle) (toggled, error) { return toggled{}, nil })
	text, err := json.Marshal(r.Functions()[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"toggle_bot","title":"toggle_bot","description":"For tests.","permission":"","readOnly":false,
		"arguments":{"reference":{"type":"number","required":true},"chatId":{"type":"string","required":true},"active":{"type":"boolean","required":true}},
		"returns":{"type":"object","properties":{"chatId":{"type":"string"},"reference":{"type":"number"},"botActive":{"type":"number"},"previousState":{"type":"number"}}}}`,
		string(text))
}

func TestOwnSchema(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	schema := json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"n":{"$ref":"#/$defs/n"},"name":{"type":"string","description":"Whose."},"list":{"type":"array"},"i":{"type":"integer"},"o":{"type":"object"}},"required":["name"],"$defs":{"n":{"type":"integer"}}}`)
	require.NoError(t, mcp.Register(r, mcp.Function[json.RawMessage, json.RawMessage]{
		Name: "own", Description: "Has a schema of its own.", Schema: schema,
		Handler: func(_ context.Context, _ mcp.Call, in json.RawMessage) (json.RawMessage, error) { return in, nil },
	}))
	require.JSONEq(t, string(schema), string(r.Tools()[0].Input))
	require.JSONEq(t, `{"type":"object"}`, string(r.Tools()[0].Output))
	text, err := json.Marshal(r.Functions()[0].Arguments)
	require.NoError(t, err)
	require.JSONEq(t, `{"n":{"type":"any","required":false},"list":{"type":"array","required":false},"i":{"type":"number","required":false},"o":{"type":"object","required":false},"name":{"type":"string","required":true,"description":"Whose."}}`, string(text))
	require.JSONEq(t, `{"n":9007199254740993}`, string(call(t, r, ana, "own", `{"n":9007199254740993}`).Result))
	require.JSONEq(t, `{}`, string(call(t, r, ana, "own", ``).Result))
	refused(t, call(t, r, ana, "own", `[1]`), mcp.CodeInvalidArguments)
	refused(t, call(t, r, ana, "own", `{"n":1,"n":2}`), mcp.CodeInvalidArguments)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	require.Equal(t, "0.0.0", r.Version())
	ping(t, r, "one")
	ping(t, r, "two")
	require.Regexp(t, `^0\.0\.0\+[0-9a-f]{8}$`, r.Version())
	r.Release("1.2.3")
	require.Equal(t, "1.2.3", r.Version())
	ping(t, r, "three")
	ping(t, r, "four")
	require.Regexp(t, `^1\.2\.3\+[0-9a-f]{8}$`, r.Version())

	same := free(t, mcp.Options{})
	ping(t, same, "two")
	ping(t, same, "one")
	same.Release("1.2.3")
	ping(t, same, "four")
	ping(t, same, "three")
	require.Equal(t, r.Version(), same.Version(), "the order does not matter")
	ping(t, same, "five")
	require.NotEqual(t, r.Version(), same.Version())
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	r := free(t, mcp.Options{})
	ping(t, r, "taken")
	type ok = mcp.Function[none, none]
	register := func(f ok) error { return mcp.Register(r, f) }
	for want, err := range map[string]error{
		`"taken": a function with this name is already registered`: register(ok{Name: "taken", Description: "x", Handler: ponging}),
		`Function.Name must match`:                                 register(ok{Name: "Bad-Name", Description: "x", Handler: ponging}),
		`Function.Name`:                                            register(ok{Name: strings.Repeat("x", 65), Description: "x", Handler: ponging}),
		`Function.Description is missing`:                          register(ok{Name: "x", Handler: ponging}),
		`Function.Handler is missing`:                              register(ok{Name: "x", Description: "x"}),
		`Function.Limit must be`:                                   register(ok{Name: "x", Description: "x", Handler: ponging, Limit: -2}),
		`Function.Timeout is negative`:                             register(ok{Name: "x", Description: "x", Handler: ponging, Timeout: -1}),
		`arguments: with Function.Schema`:                          register(ok{Name: "x", Description: "x", Handler: ponging, Schema: json.RawMessage(`{}`)}),

		`arguments: Function.Schema is not a JSON Schema`: mcp.Register(r, mcp.Function[json.RawMessage, none]{
			Name: "x", Description: "x", Schema: json.RawMessage(`[]`),
			Handler: func(context.Context, mcp.Call, json.RawMessage) (none, error) { return none{}, nil },
		}),
		`arguments: they are the fields of a struct, not string`: of[string](r),
		`arguments: field C: chan int has no form in JSON`: of[struct {
			C chan int `json:"c"`
		}](r),
		`arguments: field I: interface { String() string } cannot be read`: of[struct {
			I interface{ String() string } `json:"i"`
		}](r),
		`arguments: field M: the keys of map[int]string are not texts`: of[struct {
			M map[int]string `json:"m"`
		}](r),
		`arguments: field B: []uint8 is written as base64`: of[struct {
			B []byte `json:"b"`
		}](r),
		`arguments: field S: the option "string"`: of[struct {
			S int `json:"s,string"`
		}](r),
		`arguments: field E: enum is for texts`: of[struct {
			E int `json:"e" enum:"1,2"`
		}](r),
		`arguments: field N: minimum is a number, for numbers`: of[struct {
			N string `json:"n" minimum:"1"`
		}](r),
		`arguments: field N: maximum is a number, for numbers`: of[struct {
			N int `json:"n" maximum:"x"`
		}](r),
		`arguments: field L: maxLength is a number, for texts and slices`: of[struct {
			L int `json:"l" maxLength:"1"`
		}](r),
		`arguments: field D: default must be at most 5`: of[struct {
			D int `json:"d" maximum:"5" default:"6"`
		}](r),
		`arguments: field D: default must be one of a`: of[struct {
			D string `json:"d" enum:"a" default:"b"`
		}](r),
		`arguments: field D: default is not valid JSON`: of[struct {
			D int `json:"d" default:"x"`
		}](r),
		`arguments: field Other: there are two of the name "reference"`: of[struct {
			base

			Other int `json:"reference"`
		}](r),
		`field Below: mcp_test.node contains itself`: of[node](r),
		`result: it is a struct or a map, not string`: mcp.Register(r, mcp.Function[none, string]{
			Name: "x", Description: "x", Handler: func(context.Context, mcp.Call, none) (string, error) { return "", nil },
		}),
	} {
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "mcp: registering function ")
	}
	require.Len(t, r.Tools(), 1)
}

// of registers a function of arguments that cannot be used.
func of[In any](r *mcp.Registry) error {
	return mcp.Register(r, mcp.Function[In, none]{
		Name: "x", Description: "x", Handler: func(context.Context, mcp.Call, In) (none, error) { return none{}, nil },
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]mcp.Options{
		"Options.Limit":        {Limit: -2},
		"Options.AccountLimit": {AccountLimit: 2_000_000},
		"Options.Retention":    {Retention: -time.Hour},
		"Options.Timeout":      {Timeout: -1},
	} {
		_, err := mcp.New(t.Context(), nil, &o)
		require.ErrorContains(t, err, want)
	}
}
