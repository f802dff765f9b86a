package entity

import (
	"math/big"
	"strings"
)

// DocumentValue is the number of a document. It holds only the last four
// characters; the text has the full number.
type DocumentValue struct {
	Kind   string `json:"kind"` // cpf, cnpj, iban or card
	Masked string `json:"masked"`
}

// maxDocument is the maximum length of a number with its separators.
const maxDocument = 50

// documents finds numbers with valid check digits.
func (f *finder) documents() []Match {
	var out []Match
	for i := 0; i < len(f.tokens); {
		value, end := f.documentAt(i)
		if end == i {
			i++
			continue
		}
		out = append(out, f.match(Document, value, f.tokens[i].start, f.tokens[end-1].end, 0.98))
		i = end
	}
	return out
}

// documentAt tries the longest run of characters and separators first.
func (f *finder) documentAt(i int) (any, int) {
	first := f.tokens[i]
	if f.chained(i) {
		return nil, i
	}
	if first.kind == symbol || i > 0 && f.joined(i) && f.tokens[i-1].kind != symbol ||
		first.kind == word && len(first.text) != 2 { // the country code of an IBAN
		return nil, i
	}
	var ends []int
	var size int
	for j := i; j < len(f.tokens) && f.tokens[j].end-first.start <= maxDocument; j++ {
		t := f.tokens[j]
		if t.kind == symbol {
			if !f.joined(j) || !f.joined(j+1) || !strings.Contains(".-/", t.text) {
				break
			}
			continue
		}
		if size += t.end - t.start; size > 34 {
			break
		}
		if size >= 11 && !f.joinedToWord(j+1) {
			ends = append(ends, j+1)
		}
	}
	for k := len(ends) - 1; k >= 0; k-- {
		if v, ok := documentOf(f.text[first.start:f.tokens[ends[k]-1].end]); ok {
			return v, ends[k]
		}
	}
	return nil, i
}

// documentOf returns the document whose number the text is.
func documentOf(text string) (DocumentValue, bool) {
	plain := strings.ToUpper(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, text))
	kind := ""
	switch {
	case goodIBAN(plain):
		kind = "iban"
	case strings.Trim(plain, "0123456789") != "" || repeated(plain):
	case len(plain) == 11 && checked(plain, 9, 11) && checked(plain, 10, 12):
		kind = "cpf"
	case len(plain) == 14 && checked(plain, 12, 9) && checked(plain, 13, 9):
		kind = "cnpj"
	case len(plain) >= 13 && len(plain) <= 19 && strings.ContainsAny(plain[:1], "23456") && luhn(plain):
		kind = "card"
	}
	if kind == "" {
		return DocumentValue{}, false
	}
	return DocumentValue{Kind: kind, Masked: strings.Repeat("*", len(plain)-4) + plain[len(plain)-4:]}, true
}

// repeated reports whether all digits are the same. The check digits of such
// numbers are valid, but the numbers are not in use.
func repeated(s string) bool { return s == "" || strings.Count(s, s[:1]) == len(s) }

// checked reports whether the digit at a position is the check digit of the digits
// before it: modulo 11, with weights that grow from the right, from 2 to the bound,
// and then start again.
func checked(s string, at, bound int) bool {
	sum, weight := 0, 2
	for i := at - 1; i >= 0; i-- {
		sum += int(s[i]-'0') * weight
		if weight++; weight > bound {
			weight = 2
		}
	}
	digit := 11 - sum%11
	if digit >= 10 {
		digit = 0
	}
	return int(s[at]-'0') == digit
}

// luhn reports whether the check digit of a card number is right (ISO/IEC 7812).
func luhn(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// goodIBAN reports whether the check digits are right: 1 modulo 97 (ISO 13616).
func goodIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 || s[0] < 'A' || s[1] < 'A' || s[2] > '9' || s[3] > '9' {
		return false
	}
	var out strings.Builder
	for _, c := range []byte(s[4:] + s[:4]) {
		if c >= 'A' {
			out.WriteByte('1' + (c-'A')/10)
			out.WriteByte('0' + (c-'A')%10)
			continue
		}
		out.WriteByte(c)
	}
	n, ok := new(big.Int).SetString(out.String(), 10)
	return ok && n.Mod(n, big.NewInt(97)).Int64() == 1
}
