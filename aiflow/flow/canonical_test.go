package flow_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	a := decode(t, []byte(`{"format": "trunkline-flow/1", "kind": "flow", "slug": "s", "name": "\u00fc<", "start": "t",
		"nodes": {"t": {"type": "trigger", "config": {"priority": 1e1}}, "b": {"type": "note"}},
		"variables": {"n": {"type": "number", "default": 1.50}}, "ui": {"nodes": {"t": {"x": 1}}}}`))
	b := decode(t, []byte(`{"ui": {}, "variables": {"n": {"default": 15e-1, "type": "number"}},
		"nodes": {"b": {"type": "note"}, "t": {"config": {"priority": 10.0}, "type": "trigger"}},
		"start": "t", "name": "ü\u003c", "slug": "s", "kind": "flow", "format": "trunkline-flow/1"}`))
	want := `{"format":"trunkline-flow/1","kind":"flow","name":"ü<","nodes":{"b":{"type":"note"},"t":{"config":{"priority":10},"type":"trigger"}},"slug":"s","start":"t","variables":{"n":{"default":1.5,"type":"number"}}}`
	require.Equal(t, want, string(a.Canonical()))
	require.Equal(t, want, string(b.Canonical()))
	require.Equal(t, a.Hash(), b.Hash())
	require.Len(t, a.Hash(), 64)

	again := decode(t, a.Canonical())
	require.Equal(t, a.Hash(), again.Hash())
	require.JSONEq(t, `{"nodes": {"t": {"x": 1}}}`, string(a.UI))
}

// Whole numbers keep all their digits, and numbers that differ stay different.
func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"9223372036854775807": "9223372036854775807", "-9007199254740993": "-9007199254740993",
		"1e2": "100", "-0": "0", "0.10": "0.1", "1E-7": "1e-07", "12345678901234567890": "1.2345678901234567e+19",
	} {
		d := decode(t, []byte(one(`{"type": "set", "config": {"assign": [{"var": "v", "value": `+in+`}]}}`)))
		var back struct {
			Nodes map[string]struct {
				Config struct {
					Assign []struct{ Value json.RawMessage }
				}
			}
		}
		require.NoError(t, json.Unmarshal(d.Canonical(), &back))
		require.Equal(t, want, string(back.Nodes["n"].Config.Assign[0].Value))
	}
}

// Runs and versions are bound to the hash of a document: it must not change with a
// release.
func TestHashStays(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/every-node.json")
	require.NoError(t, err)
	d := decode(t, raw)
	golden(t, "testdata/every-node.canonical", append(append([]byte{}, d.Canonical()...), []byte("\n"+d.Hash()+"\n")...))
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%s differs; got\n%s", file, got)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(node.NewTypes().Describe()))
	golden(t, "testdata/palette.json", b.Bytes())
}

// TestHashAlone returns the hash of a document whose canonical form was not asked for.
func TestHashAlone(t *testing.T) {
	t.Parallel()
	read := func(name string) *flow.Document {
		d, _ := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"` + name + `","start":"end","nodes":{"end":{"type":"message","config":{"text":"hi"}}}}`))
		return d
	}
	first, again := read("a"), read("a")
	require.NotEqual(t, first.Hash(), read("b").Hash())
	require.Equal(t, first.Hash(), again.Hash())
	require.Contains(t, string(read(`a\\b`).Canonical()), `"name":"a\\b"`)
}

// TestCalls lists the functions that a document calls, also those of agents.
func TestCalls(t *testing.T) {
	t.Parallel()
	d, _ := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"one","nodes":{
		"one":{"type":"call","config":{"function":"pay"},"next":{"out":"two"}},"two":{"type":"call","config":{"function":"ask"},"next":{"out":"three"}},
		"three":{"type":"agent","config":{"functions":["pay","find"]}},"four":{"type":"message","config":{"function":"none"}},"five":{"type":"call"}}}`))
	require.Equal(t, []string{"ask", "find", "pay"}, d.Calls())
	require.Empty(t, new(flow.Document).Calls())
}
