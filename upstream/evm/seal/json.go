package seal

import "bytes"

// nextValue splits JSON, behind the opening bracket of an object or a list, into its next value, a name being one, and
// what is behind that. The value is empty at the end.
func nextValue(text []byte) (value, rest []byte) {
	text = bytes.TrimLeft(text, " \t\r\n,:")
	end, depth := 0, 0
	if len(text) > 0 && bytes.IndexByte([]byte(`"[{`), text[0]) < 0 {
		if end = bytes.IndexAny(text, " \t\r\n,:]}"); end < 0 {
			return text, nil
		}
		return text[:end], text[end:]
	}
	for ; end < len(text); end++ {
		switch text[end] {
		case '"':
			for end++; end < len(text) && text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth == 0 {
			end = min(end+1, len(text))
			return text[:end], text[end:]
		}
	}
	return text, nil
}

// valuesOf are the values of an object's members, the last one of each name; nil where it has none.
func valuesOf(object []byte, members []member) [][]byte {
	values := make([][]byte, len(members))
	for rest := object[min(1, len(object)):]; ; {
		var name, value []byte
		name, rest = nextValue(rest)
		if value, rest = nextValue(rest); len(value) == 0 {
			return values
		}
		for i := range members {
			if string(bytes.Trim(name, `"`)) == members[i].name {
				values[i] = value
				break
			}
		}
	}
}
