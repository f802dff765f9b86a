package runtimetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Script is a conversation, and what comes of it whatever happens to the node
// that has it.
type Script struct {
	Flow      json.RawMessage   `json:"flow"`      // the document
	Functions []json.RawMessage `json:"functions"` // the documents of those that it calls
	Steps     []Step            `json:"steps"`
}

// Step is something that happens, and what follows from it.
type Step struct {
	Send    string   `json:"send"`    // the contact writes; "": nothing
	Advance string   `json:"advance"` // time passes, as "1h30m"; "": none
	Event   string   `json:"event"`   // an event of this name happens; "": none
	Expect  []string `json:"expect"`  // what the contact's phone shows then
	Or      []string `json:"or"`      // what it may show instead, where it cannot be known whether a call was made
}

// Scripts reads the scripts of a folder, by the names of their files.
func Scripts(t testing.TB, dir string) map[string]Script {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string]Script{}
	for _, path := range files {
		raw, err := os.ReadFile(path) //nolint:gosec // a test's own folder
		require.NoError(t, err)
		var s Script
		require.NoError(t, json.Unmarshal(raw, &s), path)
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = s
	}
	return out
}
