package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxTools       = 200
	maxToolName    = 128
	maxDescription = 16 << 10
	maxDefinition  = 64 << 10
)

// Hints are a server's claims about a tool.
type Hints struct {
	ReadOnly    bool `json:"readOnly"`    // it changes nothing
	Idempotent  bool `json:"idempotent"`  // a second call changes nothing more
	Destructive bool `json:"destructive"` // it may delete or overwrite
	OpenWorld   bool `json:"openWorld"`   // it reaches people or systems beyond the server
}

// Definition is the part of a tool, besides its name, that an approval pins.
type Definition struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of the arguments: an object, its members sorted by name
	Hints       Hints           `json:"hints"`
}

// define reads a tool of a server's list. It ignores tools that cannot be stored,
// or whose arguments are not an object.
func define(t *sdk.Tool) (Definition, bool) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || len(schema) == 0 || schema[0] != '{' || !keepable(t.Name) || len(schema)+len(t.Description) > maxDefinition {
		return Definition{}, false
	}
	if len(t.Description) > maxDescription || !utf8.ValidString(t.Description) || strings.ContainsRune(t.Description, 0) {
		return Definition{}, false
	}
	return Definition{Description: t.Description, Schema: schema, Hints: hintsOf(t.Annotations)}, true
}

// hintsOf assumes the worst for missing hints, as the protocol says: the tool
// writes, destroys and reaches the outside world.
func hintsOf(a *sdk.ToolAnnotations) Hints {
	h := Hints{Destructive: true, OpenWorld: true}
	if a == nil {
		return h
	}
	h.ReadOnly = a.ReadOnlyHint
	h.Idempotent = a.IdempotentHint || a.ReadOnlyHint
	if a.DestructiveHint != nil {
		h.Destructive = *a.DestructiveHint
	}
	h.Destructive = h.Destructive && !h.ReadOnly
	if a.OpenWorldHint != nil {
		h.OpenWorld = *a.OpenWorldHint
	}
	return h
}

// hash returns the SHA-256 of a tool: of its name, its description, its schema and
// its hints.
func (d Definition) hash(name string) (string, error) {
	raw, err := json.Marshal(struct {
		Name string `json:"name"`
		Definition
	}{name, d})
	if err != nil {
		return "", fmt.Errorf("writing a tool: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// keepable reports whether a text can be the name of a tool.
func keepable(name string) bool {
	return name != "" && len(name) <= maxToolName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
}
