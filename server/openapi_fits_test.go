package server_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// schemaSet holds the schemas of the document for a validator of JSON Schema
// that is not ours.
type schemaSet struct{ *jsonschema.Compiler }

func schemas(t *testing.T, f fixture) schemaSet {
	t.Helper()
	d, err := jsonschema.UnmarshalJSON(f.do(t, "GET", "/swagger/openapi.json", "").Body)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("openapi.json", d))
	return schemaSet{c}
}

// fits says how a value breaks the schema at a place of the document.
func (s schemaSet) fits(t *testing.T, raw []byte, at ...string) error {
	t.Helper()
	pointer := ""
	for _, name := range at {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	schema, err := s.Compile("openapi.json#" + (&url.URL{Path: pointer}).EscapedPath())
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err, string(raw))
	return schema.Validate(v)
}

// fitsEvent is fits for the body of a delivery.
func (s schemaSet) fitsEvent(t *testing.T, raw []byte, kind string) error {
	t.Helper()
	return s.fits(t, raw, "webhooks", kind, "post", "requestBody", "content", "application/json", "schema")
}
