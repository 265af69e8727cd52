package config

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON schema of a configuration (json-schema.org, draft 2020-12), for completion and validation in
// editors. A test keeps it equal to the types.
func Schema() []byte { return schema }
