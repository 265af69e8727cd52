// Package rawjson scans JSON (RFC 8259) without decoding it, so that parts can be decoded separately. It finds where
// values end; the decoder checks whether they are valid.
package rawjson

import "bytes"

// Text is the rest of a JSON text.
type Text []byte

const space = " \t\r\n"

// Take consumes a character if it is next, after white space, and reports whether it was.
func (t *Text) Take(character byte) bool {
	left := bytes.TrimLeft(*t, space)
	if len(left) == 0 || left[0] != character {
		return false
	}
	*t = left[1:]
	return true
}

// IsEmpty reports whether only white space is left.
func (t Text) IsEmpty() bool { return len(bytes.TrimLeft(t, space)) == 0 }

// Value consumes and returns the next value, or a member's name, as written; empty if there is none.
func (t *Text) Value() []byte {
	text := bytes.TrimLeft(*t, space)
	end := endOf(text)
	*t = text[end:]
	return text[:end]
}

// endOf returns the length of the value at the beginning of a text.
func endOf(text []byte) int {
	if len(text) > 0 && text[0] != '"' && text[0] != '[' && text[0] != '{' {
		if end := bytes.IndexAny(text, space+",:]}"); end >= 0 {
			return end
		}
		return len(text)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closingQuote(text, i)
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth == 0 {
			return min(i+1, len(text))
		}
	}
	return len(text)
}

// closingQuote returns where the string that opens at a position ends, or the length of the text if it does not.
func closingQuote(text []byte, open int) int {
	for from := open + 1; ; {
		next := bytes.IndexByte(text[from:], '"')
		if next < 0 {
			return len(text)
		}
		quote, isEscaped := from+next, false
		for i := quote - 1; i >= from && text[i] == '\\'; i-- {
			isEscaped = !isEscaped
		}
		if !isEscaped {
			return quote
		}
		from = quote + 1
	}
}
