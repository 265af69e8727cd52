package web

import "testing"

func TestJSONIsHighlighted(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "b:1", "c": [-1.5e+9, true, null]}`: `{<b>&#34;a&#34;</b>: &#34;b:1&#34;, <b>&#34;c&#34;</b>: [<i>-1.5e+9</i>, <i>true</i>, <i>null</i>]}`,
		`{"<i>\":": "</code><script>"}`:            `{<b>&#34;&lt;i&gt;\&#34;:&#34;</b>: &#34;&lt;/code&gt;&lt;script&gt;&#34;}`,
		`<no "json`:                                `&lt;no &#34;json`,
	} {
		if got := string(highlighted(text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
