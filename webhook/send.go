package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"crossgate/upstream"
)

// Bounds of a request. Only the status and headers of a response count; its body is not read.
const (
	patience    = 10 * time.Second
	perHook     = 8 // requests at a time
	longestWait = 24 * time.Hour
)

// newClient returns a client that follows no redirects and uses no proxies. It does not bound requests per host, which
// several subscribers may have in common. control checks the addresses that it connects to; nil: all are allowed.
func newClient(control func(network, address string, _ syscall.RawConn) error) *http.Client {
	return &http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: patience, Control: control}).DialContext,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    perHook,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type failure struct {
	text  string
	retry time.Duration // requested by the subscriber; 0: none
}

func (f *failure) Error() string { return f.text }

// send delivers a message. An error is a *failure, unless ctx has ended.
func (d *Deliverer) send(ctx context.Context, h *Hook, of *delivery) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(of.body))
	if err != nil {
		return &failure{text: "not a URL"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Crossgate-Webhook")
	sign(request.Header, "msg_"+strconv.FormatUint(of.position, 10), d.Now(), of.body, h.Secrets)
	client := d.guarded
	if h.IsConfigured {
		client = d.trusted
	}
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
			err = inner // without the URL, which may hold a key
			if _, isNet := inner.(*net.OpError); isNet {
				break
			}
		}
		return &failure{text: err.Error()}
	}
	_ = response.Body.Close() // the rest is not awaited
	switch code := response.StatusCode; code / 100 {
	case 2:
		return nil
	case 3:
		return &failure{text: fmt.Sprintf("HTTP %d: redirects are not followed", code)}
	default:
		return &failure{fmt.Sprintf("HTTP %d", code), min(upstream.RetryAfter(response.Header), longestWait)}
	}
}

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
