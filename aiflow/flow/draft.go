package flow

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDraft is the most bytes of a draft.
const MaxDraft = 2 << 20

// CheckDraft refuses what no draft can be: everything that is no JSON object in
// UTF-8 with each member once. The error is a [Problem].
func CheckDraft(draft []byte) error {
	refused := func(path, message string) error {
		return Problem{Severity: SeverityError, Code: "shape.draft", Path: path, Message: message}
	}
	if len(draft) > MaxDraft {
		return refused("", fmt.Sprintf("must have at most %d bytes", MaxDraft))
	}
	if !utf8.Valid(draft) {
		return refused("", "must be UTF-8")
	}
	if !bytes.HasPrefix(bytes.TrimLeft(draft, " \t\r\n"), []byte("{")) {
		return refused("", "must be a JSON object")
	}
	_, problems := Decode(draft)
	for _, p := range problems {
		if p.Code == "shape.syntax" || p.Code == "shape.duplicate" {
			return refused(p.Path, p.Message)
		}
	}
	return nil
}

// maxSlug is the most characters of a slug.
const maxSlug = 64

// SlugOf makes a document's slug out of a name for people; other is the slug of
// a name without letters and digits.
func SlugOf(name, other string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if slug == "" {
		return other
	}
	return slug
}
