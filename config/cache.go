package config

import (
	"slices"
	"strings"
	"time"
)

// Cache bounds the memory of cached answers and configures the cache that replicas share.
type Cache struct {
	MaxBytes Bytes `yaml:"maxBytes" range:"1MiB..; a smaller cache costs more than it saves"` // of cached answers with their keys, compressed forms included
	// Shared is the URL of a Valkey or Redis that several gateways share: redis://user:password@host:6379/0,
	// rediss:// for TLS, unix:///path for a socket
	Shared Secret `yaml:"shared"`
	// SharedCAFile is a PEM file with the certificate authority of a rediss:// server; when empty, the system's are
	// trusted. It is read again for each connection
	SharedCAFile string `yaml:"sharedCAFile"`
	// SharedCertFile is a PEM file with the gateway's client certificate, for a server that requires one
	SharedCertFile string `yaml:"sharedCertFile"`
	// SharedKeyFile is a PEM file with the private key of sharedCertFile
	SharedKeyFile string `yaml:"sharedKeyFile"`
	// SharedTimeout bounds how long one call to it may delay an answer
	SharedTimeout time.Duration `yaml:"sharedTimeout" range:"1ms..1s"`
}

func defaultCache() Cache { return Cache{MaxBytes: 256 << 20, SharedTimeout: 20 * time.Millisecond} }

func (c Cache) check(at place) {
	address := c.Shared.Reveal()
	scheme, _, _ := strings.Cut(address, "://")
	at.key("shared").mistakeIf(address != "" && (scheme == address || !slices.Contains([]string{"redis", "rediss", "unix"}, scheme)),
		"want a URL that begins with redis://, rediss:// or unix://")
	for key, file := range map[string]string{
		"sharedCAFile": c.SharedCAFile, "sharedCertFile": c.SharedCertFile, "sharedKeyFile": c.SharedKeyFile,
	} {
		at.key(key).mistakeIf(file != "" && scheme != "rediss", "applies to TLS only: use it with a rediss:// URL in shared")
	}
	at.key("sharedCertFile").mistakeIf((c.SharedCertFile == "") != (c.SharedKeyFile == ""),
		"want a certificate and its key together, or neither")
}
