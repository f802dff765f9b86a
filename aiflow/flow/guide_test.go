package flow_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const guide = "../../docs/flows.md"

// TestGuide compares the tables of the guide with the node types, and compiles its
// example.
func TestGuide(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(guide)
	require.NoError(t, err)
	nodes, members := tables(t)
	want := between(t, between(t, string(raw), "nodes", nodes), "members", members)
	if *update {
		require.NoError(t, os.WriteFile(guide, []byte(want), 0o600))
		raw = []byte(want)
	}
	require.Equal(t, want, string(raw), "run with -update")

	blocks := testkit.ReadGuide(t, guide)
	_, problems := compile(t, node.NewTypes(), []byte(blocks.Block(t, "hello")), &flow.Environment{Engine: flow.EngineBot})
	require.Empty(t, lines(problems))
	_, problems = compile(t, node.NewTypes(), []byte(blocks.Block(t, "hello", "vars.name)", "vars.nom)")), nil)
	require.Len(t, problems, 1)
	said, err := json.Marshal(problems[0])
	require.NoError(t, err)
	require.JSONEq(t, blocks.Block(t, "problem"), string(said))
}

// between replaces what is between the markers of a name.
func between(t *testing.T, doc, name, body string) string {
	t.Helper()
	re := regexp.MustCompile(`(?s)(<!-- ` + name + `:[^\n]*-->\n).*(<!-- /` + name + ` -->)`)
	require.Regexp(t, re, doc)
	return re.ReplaceAllString(doc, "${1}"+strings.ReplaceAll(body, "$", "$$")+"${2}")
}

func tables(t *testing.T) (nodes, members string) {
	t.Helper()
	var n, m strings.Builder
	n.WriteString("| type | what it does | outputs |\n|---|---|---|\n")
	m.WriteString("| member | form | what it is |\n|---|---|---|\n")
	for _, d := range node.NewTypes().Describe().Nodes {
		name := "`" + d.Name + "`"
		if slices.Contains(d.Engines, flow.EngineBot) {
			name += " (bots too)"
		}
		var outputs []string
		for _, o := range d.Outputs {
			outputs = append(outputs, fmt.Sprintf("`%s` %s", o.Name, o.Text))
		}
		fmt.Fprintf(&n, "| %s | %s | %s |\n", name, cell(d.Text), cell(strings.Join(outputs, "; ")))
		rows(t, &m, d.Name, d.Config)
	}
	return n.String(), m.String()
}

func cell(s string) string {
	return strings.ReplaceAll(strings.TrimSuffix(s, "."), "|", `\|`)
}

// property is what the guide says of a member, from its JSON Schema.
type property struct {
	Type        any
	Description string
	Kind        string `json:"x-kind"`
	Enum        []string
	Default     json.RawMessage
	Deprecated  bool
	Properties  json.RawMessage
	Items       *property
	Required    []string

	Minimum, Maximum, MinLength, MaxLength, MinItems, MaxItems, MaxProperties *float64

	XMin *float64 `json:"x-min"`
	XMax *float64 `json:"x-max"`
}

// rows writes the members of an object, followed by their own members.
// The messages of questions and hand-offs are those of a message.
func rows(t *testing.T, b *strings.Builder, at string, schema json.RawMessage) {
	t.Helper()
	var object property
	require.NoError(t, json.Unmarshal(schema, &object))
	for name, raw := range jsonscan.Members(object.Properties) {
		var p property
		require.NoError(t, json.Unmarshal(raw, &p))
		if p.Deprecated {
			continue
		}
		title := at + "." + string(name)
		shown := "`" + title + "`"
		if slices.Contains(object.Required, string(name)) {
			shown = "**" + shown + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", shown, cell(p.form()), cell(p.Description))
		switch {
		case title == "question.prompt" || title == "handoff.message":
		case p.Properties != nil:
			rows(t, b, title, raw)
		case p.Items != nil && p.Items.Properties != nil:
			rows(t, b, title+"[]", jsonscan.Get(raw, "items"))
		}
	}
}

// form describes the form of a member, its limits, and its default.
func (p *property) form() string {
	form := map[string]string{"template": "text", "data": "value", "expression": "expression", "duration": "duration", "bytes": "size", "schema": "JSON Schema"}[p.Kind]
	switch {
	case form != "":
	case p.Enum != nil:
		form = "`" + strings.Join(p.Enum, "`, `") + "`"
	case p.Type == "array":
		form = "list of " + p.Items.form()
	default:
		form = fmt.Sprint(p.Type)
	}
	form += p.bounds()
	if p.Default != nil {
		form += ", else `" + strings.Trim(string(p.Default), `"`) + "`"
	}
	return form
}

func (p *property) bounds() string {
	least, limit := p.Minimum, p.Maximum
	for _, b := range [][2]*float64{{p.MinLength, p.MaxLength}, {p.MinItems, p.MaxItems}, {p.XMin, p.XMax}, {nil, p.MaxProperties}} {
		if b[0] != nil {
			least = b[0]
		}
		if b[1] != nil {
			limit = b[1]
		}
	}
	switch {
	case least != nil && limit != nil && *least == *limit:
		return " of " + p.measure(*limit)
	case least != nil && limit != nil:
		return " " + p.measure(*least) + " to " + p.measure(*limit)
	case limit != nil:
		return " up to " + p.measure(*limit)
	}
	return ""
}

// measure formats a limit: a number, or a duration in the largest unit that fits.
func (p *property) measure(v float64) string {
	if p.Kind == "bytes" {
		return fmt.Sprintf("%.0f KiB", v/1024)
	}
	if p.Kind != "duration" {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}} {
		if n := v / unit.seconds; n >= 1 && n == math.Trunc(n) {
			return fmt.Sprintf("%.0f %s", n, unit.name)
		}
	}
	return fmt.Sprintf("%v s", v)
}
