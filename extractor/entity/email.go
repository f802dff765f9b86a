package entity

import (
	"net/netip"
	"strings"
)

// Limits of RFC 5321.
const (
	maxLocal  = 64
	maxDomain = 253
)

// emails finds the address around each @.
func (f *finder) emails() []Match {
	var out []Match
	for at := range len(f.text) {
		if f.text[at] != '@' {
			continue
		}
		start := at
		for start > 0 && at-start <= maxLocal && (localByte(f.text[start-1]) || apostrophe(f.text, start-1)) {
			start--
		}
		end := at + 1 + domainLength(f.text[at+1:])
		local, domain := f.text[start:at], f.text[at+1:end]
		if goodLocal(local) && goodDomain(domain) && (len(out) == 0 || out[len(out)-1].End <= start) {
			out = append(out, f.match(Email, local+"@"+strings.ToLower(domain), start, end, 0.99))
		}
	}
	return out
}

func localByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(".!#$%&*+-/=?^_{|}~", c) >= 0
}

// apostrophe reports whether an apostrophe between letters is at i, as in o'brien.
// Other apostrophes are quotation marks.
func apostrophe(text string, i int) bool {
	return text[i] == '\'' && i > 0 && alphanumeric(text[i-1]) && alphanumeric(text[i+1])
}

func goodLocal(local string) bool {
	return local != "" && len(local) <= maxLocal && local[0] != '.' && local[len(local)-1] != '.' && !strings.Contains(local, "..")
}

// domainLength returns the length of a domain, or of an address in brackets. A dot
// or hyphen at the end belongs to the sentence.
func domainLength(text string) int {
	if strings.HasPrefix(text, "[") {
		if end := strings.IndexByte(text[:min(len(text), 48)], ']'); end > 0 {
			return end + 1
		}
		return 0
	}
	end := 0
	for end < len(text) && end <= maxDomain && (alphanumeric(text[end]) || strings.IndexByte(".-_", text[end]) >= 0) {
		end++
	}
	return len(strings.TrimRight(text[:end], ".-_"))
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// goodDomain reports whether a domain is well-formed.
func goodDomain(domain string) bool {
	if inner, ok := strings.CutPrefix(domain, "["); ok {
		_, err := netip.ParseAddr(strings.TrimPrefix(strings.TrimSuffix(inner, "]"), "IPv6:"))
		return err == nil
	}
	labels := strings.Split(domain, ".")
	last := labels[len(labels)-1]
	return len(labels) > 1 && goodLabels(labels) && len(last) >= 2 && strings.IndexFunc(last, func(r rune) bool { return r >= '0' && r <= '9' }) < 0
}

func goodLabels(labels []string) bool {
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || strings.IndexByte(l, '_') >= 0 {
			return false
		}
	}
	return true
}
