package pages

import (
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/proxy/web"
)

// TestLinksToPagesHavePreviews reads the tags that services with link previews use.
func TestLinksToPagesHavePreviews(t *testing.T) {
	pages := NewViews(Explored())
	const root = "https://gate.example"
	for name, row := range map[string]struct {
		write func(io.Writer) error
		want  string // a part of the description
	}{
		"order": {func(to io.Writer) error {
			return pages.Order(to, Order{Record: recordOf("claimed"), JSON: "{}", Origin: root, Now: Noon})
		}, "17.9928 USDC on Base for 20,007,232.90"},
		"locked": {func(to io.Writer) error {
			return pages.Locked(to, Locked{Answer: lockedAssets(), Origin: root, Now: Noon})
		}, "at least $35.98 in 4 orders awaiting unlock"},
		"statistics": {func(to io.Writer) error { return pages.Statistics(to, Statistics{Days: 7, Origin: root}) }, "last 7 days"},
		"no order":   {func(to io.Writer) error { return pages.Order(to, Order{}) }, "Follow an order"},
	} {
		tags := map[string]string{}
		for _, m := range regexp.MustCompile(`<meta (?:name|property)="([^"]+)" content="([^"]*)">`).FindAllStringSubmatch(Render(t, row.write), -1) {
			tags[m[1]] = m[2]
		}
		if tags["og:title"] == "" || !strings.Contains(tags["og:description"], row.want) || tags["description"] != tags["og:description"] {
			t.Errorf("%s: title %q, description %q, want %q in it", name, tags["og:title"], tags["og:description"], row.want)
		}
		wantImage := root + "/assets/preview.png"
		if name == "no order" {
			wantImage = "" // the server's public address is unknown
		}
		if tags["og:image"] != wantImage {
			t.Errorf("%s: picture %q, want %q", name, tags["og:image"], wantImage)
		}
	}
	file := must.Get(web.Assets().Open("preview.png"))(t)
	defer file.Close()
	if picture, err := png.DecodeConfig(file); err != nil || picture.Width != 1200 || picture.Height != 630 {
		t.Errorf("preview.png: %+v, %v, want 1200 by 630", picture, err)
	}
}
