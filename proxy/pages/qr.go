package pages

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// qrMargin is the quiet zone that QR code readers need, in modules (ISO/IEC 18004, section 6.3.8).
const qrMargin = 4

// qrCode returns an SVG of the QR code of a URL given in parts, empty if it is too long for one.
func qrCode(parts ...string) template.HTML {
	code, err := qr.Encode(strings.Join(parts, ""), qr.M)
	if err != nil {
		return ""
	}
	var path strings.Builder
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+qrMargin, y+qrMargin)
			}
		}
	}
	const drawing = `<svg role="img" aria-label="QR code" viewBox="0 0 %d %[1]d"><rect width="%[1]d" height="%[1]d" fill="white"/><path d="%s"/></svg>`
	return template.HTML(fmt.Sprintf(drawing, code.Size+2*qrMargin, path.String())) // consists of numbers only
}
