package config

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a text that may hold a key, as URLs do in their path or query. It prints, logs and encodes as [redacted];
// only Reveal returns the text.
type Secret struct{ text string }

// NewSecret returns a Secret that holds text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// Format prints [redacted] for every verb of package fmt.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, redacted) }

// LogValue keeps the text out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps the text out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
