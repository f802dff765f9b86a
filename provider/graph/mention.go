package graph

import "bytes"

const (
	// maxHits limits how many members with a name are examined. The ids that a
	// callback is about are at the start of each of its entries.
	maxHits = 4096
	// maxID limits the digits of an id; Meta's have up to 17.
	maxID = 32
	// maxSpace limits the space around a colon.
	maxSpace = 8
)

// Mentions returns the ids, all digits, of the members called name anywhere in
// body: each once, in order, at most limit of them. It searches the bytes
// without parsing them, so it costs a fraction of decoding JSON, whatever the
// sender writes. It does not find members inside of strings, whose quotes are
// escaped.
func Mentions(body []byte, name string, limit int) []string {
	quoted := []byte(`"` + name + `"`)
	var ids []string
	seen := map[string]bool{}
	for hits := 0; hits < maxHits && len(ids) < limit; hits++ {
		at := bytes.Index(body, quoted)
		if at < 0 {
			break
		}
		body = body[at+len(quoted):]
		if id := mentioned(body); len(id) > 0 && !seen[string(id)] {
			ids = append(ids, string(id))
			seen[string(id)] = true
		}
	}
	return ids
}

// mentioned returns the id after a name: digits, with or without quotes.
func mentioned(rest []byte) []byte {
	rest = unspaced(rest)
	if len(rest) == 0 || rest[0] != ':' {
		return nil
	}
	rest = unspaced(rest[1:])
	quoted := len(rest) > 0 && rest[0] == '"'
	if quoted {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && n <= maxID && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 || n > maxID || quoted && (n == len(rest) || rest[n] != '"') {
		return nil
	}
	return rest[:n]
}

func unspaced(b []byte) []byte {
	for n := 0; n < maxSpace && len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t'); n++ {
		b = b[1:]
	}
	return b
}
