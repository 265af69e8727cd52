package config

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a text that may hold a key, as URLs do in their path or query. Printed, logged or encoded in any way it is
// [redacted]; only Reveal returns it.
type Secret struct{ text string }

// NewSecret holds text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for where it is used.
func (s Secret) Reveal() string { return s.text }

// Format keeps every verb of package fmt from the text.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, redacted) }

// LogValue keeps it out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps it out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
