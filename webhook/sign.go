package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Secrets have the form of Standard Webhooks: base64 of 24 to 64 bytes after a prefix.
const secretPrefix = "whsec_"

// NewSecret returns a secret of 32 random bytes.
func NewSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// CheckSecret returns why a text cannot be a secret, nil if it can.
func CheckSecret(text string) error {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
	if err != nil || len(raw) < 24 || len(raw) > 64 {
		return errors.New("want whsec_ followed by base64 of 24 to 64 bytes")
	}
	return nil
}

// sign adds the headers of a message (https://github.com/standard-webhooks/standard-webhooks, symmetric signatures),
// with a signature for each valid secret.
func sign(header http.Header, id string, at time.Time, body []byte, secrets []string) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, secret := range secrets {
		raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		mac := hmac.New(sha256.New, raw)
		mac.Write([]byte(id + "." + seconds + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", seconds)
	header.Set("webhook-signature", strings.Join(signatures, " "))
}
