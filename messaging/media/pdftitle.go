package media

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The title of a PDF is in its information dictionary, which is recognized by its
// program or dates, or in its XMP metadata.

const pdfInfos = 200 // dictionaries that are searched in a window or a stream

var (
	pdfTitleKey  = regexp.MustCompile(`/Title\s*([(<])`)
	pdfInfoKey   = regexp.MustCompile(`/(Producer|Creator|CreationDate|ModDate|Author)\s*[(<]`)
	pdfNoInfo    = regexp.MustCompile(`/(Parent|Type|S)\b`)
	pdfEncrypted = regexp.MustCompile(`/Encrypt\s*(\d|<<)`)
	pdfXMP       = regexp.MustCompile(`^<dc:title>\s*<rdf:Alt>\s*<rdf:li[^<>]*>([^<>]+)</rdf:li>`)
	xmlEntities  = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")
)

// pdfTitle returns the title in a part of a PDF, or before if there is none.
func pdfTitle(src *source, text []byte, before string) string {
	for _, m := range pdfInfoKey.FindAllIndex(text, pdfInfos) {
		if src.ctx.Err() != nil {
			return before
		}
		start, end, ok := dictionary(text, m[0], m[1])
		if !ok {
			continue
		}
		dict := text[start:end]
		at := pdfTitleKey.FindSubmatchIndex(dict)
		if at == nil || pdfNoInfo.Match(dict) {
			continue
		}
		if title := plainTitle(pdfString(text[start+at[2] : min(len(text), start+at[2]+8*maxTitle)])); title != "" {
			before = title
		}
	}
	if before == "" {
		if at := bytes.Index(text, []byte("<dc:title>")); at >= 0 {
			if m := pdfXMP.FindSubmatch(text[at:min(len(text), at+8*maxTitle)]); m != nil {
				before = plainTitle(xmlEntities.Replace(string(m[1])))
			}
		}
	}
	return before
}

// pdfString decodes the string at the beginning of a text: (…) or <…>.
func pdfString(text []byte) string {
	raw, ok := literal(text)
	if text[0] == '<' {
		raw, ok = hexadecimal(text)
	}
	if !ok {
		return ""
	}
	switch {
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		units := make([]uint16, 0, len(raw)/2)
		for i := 2; i+1 < len(raw); i += 2 {
			units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
		}
		return string(utf16.Decode(units))
	case bytes.HasPrefix(raw, []byte{0xef, 0xbb, 0xbf}), utf8.Valid(raw):
		return string(bytes.TrimPrefix(raw, []byte{0xef, 0xbb, 0xbf}))
	}
	runes := make([]rune, len(raw)) // nearly Latin-1
	for i, b := range raw {
		runes[i] = rune(b)
	}
	return string(runes)
}

func hexadecimal(text []byte) ([]byte, bool) {
	digits, _, ok := bytes.Cut(text[1:], []byte(">"))
	if !ok {
		return nil, false
	}
	digits = bytes.Join(bytes.Fields(digits), nil)
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	raw := make([]byte, len(digits)/2)
	_, err := hex.Decode(raw, digits)
	return raw, err == nil
}

var pdfEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// literal decodes a string in parentheses, which may contain pairs of them.
func literal(text []byte) (out []byte, ok bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '(':
			if depth++; depth == 1 {
				continue
			}
		case c == ')':
			if depth--; depth == 0 {
				return out, true
			}
		case c == '\\' && i+1 < len(text):
			i++
			c = text[i]
			if v, is := pdfEscapes[c]; is {
				c = v
			} else if c >= '0' && c <= '7' {
				v := 0
				for n := 0; n < 3 && i < len(text) && text[i] >= '0' && text[i] <= '7'; n++ {
					v = v*8 + int(text[i]-'0')
					i++
				}
				i--
				c = byte(v) // a larger value is truncated, as readers do
			} else if c == '\n' || c == '\r' {
				continue
			}
		}
		out = append(out, c)
	}
	return nil, false
}
