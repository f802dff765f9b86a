package entity

import (
	"net/netip"
	"strings"
	"unicode"
)

// maxURL is the maximum length of a URL, in bytes.
const maxURL = 2048

// urls finds addresses with a scheme, those that begin with www, and domains that
// end in a known top-level domain.
func (f *finder) urls() []Match {
	var out []Match
	for start := 0; start < len(f.text); {
		i := strings.IndexFunc(f.text[start:], func(r rune) bool { return !unicode.IsSpace(r) })
		if i < 0 {
			break
		}
		start += i
		end := strings.IndexFunc(f.text[start:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"", r) })
		if end = start + end; end < start {
			end = len(f.text)
		}
		if end > start && end-start <= maxURL {
			if from, to, sure := urlWithin(f.text[start:end]); to > from {
				out = append(out, f.match(URL, f.text[start+from:start+to], start+from, start+to, sure))
			}
		}
		start = max(end, start+1)
		for start < len(f.text) && f.text[start]&0xC0 == 0x80 {
			start++
		}
	}
	return out
}

// urlWithin finds a URL in a run without white space.
func urlWithin(chunk string) (from, to int, sure float64) {
	lower := asciiLower(chunk)
	for _, scheme := range []string{"https://", "http://", "ftp://"} {
		if i := strings.Index(lower, scheme); i >= 0 {
			to = i + len(trimURL(chunk[i:]))
			host, _ := hostOf(lower[min(i+len(scheme), to):to])
			if goodHost(host) {
				return i, to, 0.99
			}
			return 0, 0, 0
		}
	}
	if strings.Contains(lower, "@") || strings.Contains(lower, "://") {
		return 0, 0, 0
	}
	from = strings.IndexFunc(chunk, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if from < 0 {
		return 0, 0, 0
	}
	to = from + len(trimURL(chunk[from:]))
	host, rest := hostOf(chunk[from:to])
	if bareHost(host, rest) {
		sure = 0.7
		if strings.HasPrefix(asciiLower(host), "www.") {
			sure = 0.95
		}
		return from, to, sure
	}
	return 0, 0, 0
}

// asciiLower converts only ASCII letters, so that offsets do not change.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// trimURL removes what belongs to the sentence: the full stop, and a closing
// bracket without an opening one.
func trimURL(s string) string {
	for s != "" {
		last := s[len(s)-1]
		switch {
		case strings.IndexByte(".,;:!?'*", last) >= 0:
		case last == ')' && strings.Count(s, "(") < strings.Count(s, ")"):
		case last == ']' && strings.Count(s, "[") < strings.Count(s, "]"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// hostOf parts the host from its port, path, query and fragment.
func hostOf(s string) (host, rest string) {
	if i := strings.IndexAny(s, "/?#:"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// goodHost reports whether a host after a scheme could exist. Hosts of private
// networks may have a name without a dot.
func goodHost(host string) bool {
	if host == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Is4()
	}
	labels := strings.Split(host, ".")
	return len(labels) > 1 && goodLabels(labels) && hostRunes(host)
}

// bareHost reports whether a text without a scheme is a host. Its last part must be
// a known domain, and it must not be a time (7.am) or two sentences without a space
// between them (Yes.No).
func bareHost(host, rest string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || last != asciiLower(last) && host != strings.ToUpper(host) {
		return false
	}
	if strings.Trim(labels[0], "0123456789") == "" && len(labels) == 2 && rest == "" {
		return false
	}
	return knownHost(asciiLower(host))
}

func knownHost(host string) bool {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if len(labels) < 2 || !goodLabels(labels) || !hostRunes(host) {
		return false
	}
	return strings.HasPrefix(last, "xn--") || strings.Contains(topLevel, " "+last+" ")
}

func hostRunes(host string) bool {
	return strings.IndexFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}
