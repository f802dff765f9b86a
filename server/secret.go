package server

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a setting that is never printed: every fmt verb, encoding and log
// shows REDACTED. string(s) is the secret itself.
type Secret string

const redacted = "REDACTED"

// Format prints REDACTED.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue logs REDACTED.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText encodes REDACTED.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
