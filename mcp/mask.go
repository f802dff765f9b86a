package mcp

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
)

const (
	masked     = "[masked]"  // a secret
	private    = "[private]" // a value that is not logged
	undeclared = "[unknown]" // the value of an argument that does not exist
	leftOut    = "[…]"       // where something exceeds the limits

	maxShownText      = 200  // characters of a logged text
	maxShownArguments = 4096 // bytes of all logged arguments, roughly
	phoneDigits       = 7    // minimum digits of a possible phone number
	phoneShown        = 4    // last digits of it that are logged
	idShown           = 8    // last characters of an id that contains a phone number
)

// phoneID is the prefix of WhatsApp Cloud API ids. They are base64 of the contact's
// number followed by a random part.
const phoneID = "wamid."

// secretWords are parts of names whose values are masked. Names are compared in
// lower case and without separators.
var secretWords = []string{
	"token", "secret", "passwor", "passwd", "passphrase", "pincode", "authorization", "credential", "apikey", "privatekey",
	"accesskey", "cookie", "session", "bearer", "signature", "otp", "cvv",
}

func secretName(name string) bool {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// masked returns the arguments as a JSON object for the audit log.
func (x *execution) masked() string {
	m := &masker{}
	m.object(x.args, func(name string) string {
		switch {
		case x.f == nil:
			return undeclared
		case x.f.in.given != nil:
			return ""
		case x.f.in.byName[name] == nil:
			return undeclared
		case x.f.in.byName[name].private:
			return private
		}
		return ""
	})
	return string(m.b)
}

// masker writes the parts of JSON that may be logged.
type masker struct {
	b []byte
}

func (m *masker) full() bool { return len(m.b) > maxShownArguments }

func (m *masker) write(s string) { m.b = append(m.b, s...) }

// object writes an object. hide returns the replacement of a value, "" if the value
// may be shown.
func (m *masker) object(raw []byte, hide func(name string) string) {
	m.write("{")
	first := true
	for name, value := range jsonscan.Members(raw) {
		if !first {
			m.write(",")
		}
		first = false
		if m.full() {
			m.write(`"…":"` + leftOut + `"`)
			break
		}
		m.text(shown(text.Sanitize(string(name))))
		m.write(":")
		instead := ""
		if hide != nil {
			instead = hide(string(name))
		}
		switch {
		case secretName(string(name)):
			m.text(masked)
		case instead != "":
			m.text(instead)
		default:
			m.value(value, hide != nil)
		}
	}
	m.write("}")
}

// value writes a value. Numbers at the top level are shown: they are ids of this
// server.
func (m *masker) value(raw []byte, top bool) {
	switch kind := jsonscan.Kind(raw); {
	case m.full():
		m.text(leftOut)
	case kind == '{':
		m.object(raw, nil)
	case kind == '[':
		m.array(raw)
	case kind == '"':
		text, problem := textOf(raw)
		if problem != "" {
			text = private
		}
		m.text(maskText(text))
	case !top && isNumber(raw) && maskText(string(raw)) != string(raw):
		m.text(maskText(string(raw)))
	case len(raw) > maxShownText:
		m.text(leftOut)
	default:
		m.b = append(m.b, raw...)
	}
}

func (m *masker) array(raw []byte) {
	m.write("[")
	first := true
	for element := range jsonscan.Elements(raw) {
		if !first {
			m.write(",")
		}
		first = false
		if m.full() {
			m.text(leftOut)
			break
		}
		m.value(element, false)
	}
	m.write("]")
}

func (m *masker) text(s string) {
	b, _ := json.Marshal(s) // encoding a text cannot fail
	m.b = append(m.b, b...)
}

// maskText returns the beginning of a text. Of possible phone numbers it shows the
// last digits.
func maskText(s string) string {
	if strings.HasPrefix(s, phoneID) && len(s) > len(phoneID)+idShown {
		return phoneID + "•••" + strings.ToValidUTF8(s[len(s)-idShown:], "")
	}
	if utf8.RuneCountInString(s) > maxShownText {
		s = string([]rune(s)[:maxShownText]) + "…"
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		end, digits := phoneAt(s, i)
		if digits >= phoneDigits && !letterBefore(s, i) && !letterAfter(s, end) {
			out.WriteString("•••" + lastDigits(s[i:end]))
			i = end
			continue
		}
		end = max(end, i+1)
		out.WriteString(s[i:end])
		i = end
	}
	return out.String()
}

// phoneAt finds digits at i, with the separators of phone numbers between them. The
// end is after the last digit.
func phoneAt(s string, i int) (end, digits int) {
	end = i
	for j := i; j < len(s); j++ {
		switch c := s[j]; {
		case c >= '0' && c <= '9':
			digits++
			end = j + 1
		case (c == '+' || c == '(') && j == i:
		case digits > 0 && strings.IndexByte(" -.()/", c) >= 0 && j-end < 2:
		default:
			return end, digits
		}
	}
	return end, digits
}

func letterBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsLetter(r)
}

func letterAfter(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r)
}

func lastDigits(s string) string {
	var digits []byte
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits = append(digits, s[i])
		}
	}
	return string(digits[len(digits)-phoneShown:])
}
