package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crossgate/internal/must"
)

// Authority is a certificate authority for the duration of a test.
type Authority struct {
	File string // its own certificate, in PEM

	dir         string
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its key, as files in PEM.
type Pair struct{ Certificate, Key string }

// NewAuthority creates an authority that no system trusts.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir(), certificate: &x509.Certificate{
		Subject:               pkix.Name{CommonName: "authority of a test"},
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}}
	pair, key := a.sign(t, "authority", a.certificate)
	a.File, a.key = pair.Certificate, key
	return a
}

// Issue creates a certificate for a host, by its name or address.
func (a *Authority) Issue(t testing.TB, host string) Pair {
	t.Helper()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: host},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{host},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{ip}
	}
	pair, _ := a.sign(t, host, template)
	return pair
}

// sign signs a certificate with the authority's key, or self-signs it while the authority has none.
func (a *Authority) sign(t testing.TB, name string, template *x509.Certificate) (Pair, *ecdsa.PrivateKey) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	by := a.key
	if by == nil {
		by = key
	}
	const validFor = time.Hour
	template.NotBefore, template.NotAfter = time.Now().Add(-validFor), time.Now().Add(validFor)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	signed := must.Get(x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), by))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	pair := Pair{filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")}
	for path, block := range map[string]*pem.Block{
		pair.Certificate: {Type: "CERTIFICATE", Bytes: signed}, pair.Key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return pair, key
}
