package server_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/provider/web"
)

// untouched are members that name an address to which the server never
// connects, and why.
var untouched = map[string]string{
	"POST /aiflow/credential hosts[]":                "narrows where a secret may be sent",
	"POST /references/deliveries/replay endpoint":    "an id",
	"GET /references/deliveries ?endpoint":           "an id",
	"POST /chats/send message.contacts[].urls[].url": "shown on a card",
	"agent servers[]":                                "names of servers, which the door of MCP servers has",
	"tool server":                                    "such a name",
}

// addressing are the names of members that may name what to connect to.
var addressing = regexp.MustCompile(`(?i)(ur[il]|link|href|host|webhook|endpoint|callback|proxy|origin|server|domain)s?$`)

// TestSSRFDoors requires a door, or a reason, for every member by which a
// caller can name an address: of a body or query of the document, of a node of
// flows and bots, of the settings of a reference, and of a function for agents.
func TestSSRFDoors(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	f := setup(t, nil)
	ana := f.as(t, "ana")

	document := map[string]any{}
	require.NoError(t, json.Unmarshal(f.do(t, "GET", "/swagger/openapi.json", "").Body.Bytes(), &document))
	r := addressed{schemas: document["components"].(map[string]any)["schemas"].(map[string]any), found: found}
	for path, methods := range document["paths"].(map[string]any) {
		for method, o := range methods.(map[string]any) {
			op := o.(map[string]any)
			at := strings.ToUpper(method) + " " + path + " "
			if body, ok := op["requestBody"].(map[string]any); ok {
				for _, c := range body["content"].(map[string]any) {
					r.read(at, "", c.(map[string]any)["schema"], nil)
				}
			}
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				p := p.(map[string]any)
				r.read(at, "?"+p["name"].(string), p["schema"], nil)
			}
		}
	}
	for _, n := range ana.call(t, "GET", "/aiflow/palette", "").json(200)["nodes"].([]any) {
		node := n.(map[string]any)
		r.read(node["type"].(string)+" ", "", node["config"], nil)
	}
	for _, fn := range ana.call(t, "GET", "/service-mcp/functions", "").json(200)["functions"].([]any) {
		fn := fn.(map[string]any)
		for name, argument := range fn["arguments"].(map[string]any) {
			r.read(fn["name"].(string)+" ", name, argument, nil)
		}
	}
	for _, p := range []provider.Provider{&cloud.Provider{}, &messenger.Provider{}, &sandbox.Provider{}, &web.Provider{}} {
		for _, s := range p.Settings() {
			if s.Schemes != nil || addressing.MatchString(s.Name) {
				found[string(p.Kind())+" "+s.Name] = true
			}
		}
	}

	known := map[string]bool{}
	for _, d := range doors {
		for _, m := range d.members {
			known[m] = true
		}
	}
	for m, why := range untouched {
		require.NotEmpty(t, why)
		known[m] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(found)),
		"give a new member a door in TestSSRF, or say in untouched why the server connects to nothing by it")
}

// addressed finds members of schemas that name addresses.
type addressed struct {
	schemas map[string]any
	found   map[string]bool
}

// read notes what is found in a schema at a path; inside are the names of the
// schemas that it lies in.
func (r addressed) read(operation, path string, s any, inside []string) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		name := ref[strings.LastIndex(ref, "/")+1:]
		if !slices.Contains(inside, name) {
			r.read(operation, path, r.schemas[name], append(slices.Clone(inside), name))
		}
		return
	}
	format, _ := m["format"].(string)
	named := addressing.MatchString(strings.TrimRight(path, "[]"))
	text := slices.Contains(typesOf(m), "string")
	if text && named || slices.Contains([]string{"uri", "url", "uri-reference", "iri", "hostname", "ipv4", "ipv6"}, format) {
		r.found[operation+path] = true
	}
	below := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	properties, _ := m["properties"].(map[string]any)
	for name, p := range properties {
		r.read(operation, below(name), p, inside)
	}
	r.read(operation, path+"[]", m["items"], inside)
	r.read(operation, below("*"), m["additionalProperties"], inside)
	for _, either := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := m[either].([]any)
		for _, x := range list {
			r.read(operation, path, x, inside)
		}
	}
}

// typesOf are the types that a schema names.
func typesOf(m map[string]any) []string {
	switch x := m["type"].(type) {
	case string:
		return []string{x}
	case []any:
		var out []string
		for _, v := range x {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
