package media

import (
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const maxName = 100 // bytes

// CleanName makes a file's name safe for a URL, a header and a disk: letters,
// digits, spaces and ._-() of any language, at most 100 bytes, neither hidden
// nor empty. It keeps the extension.
func CleanName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "_"))
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(safe, name)
	name = strings.Join(strings.Fields(name), " ")
	name = strings.Trim(name, ". ")
	if len(name) > maxName {
		ext := path.Ext(name)
		if len(ext) > maxName/4 {
			ext = ""
		}
		name = strings.TrimRight(strings.ToValidUTF8(name[:maxName-len(ext)], ""), ". ") + ext
	}
	if name == "" {
		return "file"
	}
	return name
}

// safe replaces characters with a meaning to a shell or a browser, or that mislead
// a reader. It drops control characters and those that change the direction of
// text.
func safe(r rune) rune {
	switch {
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
		return -1
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune("._-() ", r):
		return r
	case unicode.IsSpace(r):
		return ' '
	}
	return '_'
}
