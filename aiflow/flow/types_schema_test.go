package flow_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// schema compiles a JSON Schema with an independent implementation.
func schema(t testing.TB, raw []byte) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", parsed))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// shapes are the codes of problems that a JSON Schema also finds.
var shapes = []string{"shape.unknown", "shape.required", "shape.type", "shape.enum", "shape.pattern", "unknown.type"}

// The schema refuses exactly the documents with problems of shape, according to an
// independent implementation.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	types := node.NewTypes()
	ours := schema(t, types.Schema())
	pool := nodePool(t)
	refused := 0
	for i := range uint64(300) {
		raw := randomDocument(t, rand.New(rand.NewPCG(99, i)), pool)
		_, problems := compile(t, types, raw, nil)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		err = ours.Validate(value)
		if err != nil {
			refused++
			require.True(t, flow.Failed(problems), "%v\n%s", err, raw)
		}
		wrong := slices.ContainsFunc(problems, func(p flow.Problem) bool { return slices.Contains(shapes, p.Code) })
		require.False(t, wrong && err == nil, "%s\n%s", strings.Join(lines(problems), "\n"), raw)
	}
	require.Greater(t, refused, 30)
}

// A document without errors fits the published schema of the format.
func TestPublishedSchema(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "flows", "flow.schema.json"))
	require.NoError(t, err)
	published := schema(t, raw)
	pool := nodePool(t)
	types, faultless := node.NewTypes(), 0
	for i := range uint64(200) {
		raw := randomDocument(t, rand.New(rand.NewPCG(7, i)), pool)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		if p, _ := compile(t, types, raw, nil); p != nil {
			faultless++
			require.NoError(t, published.Validate(value), "%s", raw)
		}
	}
	require.Greater(t, faultless, 20)
}
