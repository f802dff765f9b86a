package links

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// address is a part of a text that leads somewhere.
type address struct {
	from, to int    // position in the text
	text     string // normalized
	scheme   string // with colon and slashes; "": none
	mail     bool   // something precedes the host's @
}

// sentenceEnd are characters that may end a sentence after an address.
const sentenceEnd = ".,;:!?*_~)]}'»”’…。、」』"

var (
	// withScheme matches a scheme with at least one slash.
	withScheme = lazy(`([a-z][a-z0-9+.-]+:[/\\]+)[^\s<>"/\\` + "`" + `]`)
	// opaque are schemes that need no slashes.
	opaque = lazy(`\b((?:mailto|tel|callto|smsto|sms|mmsto|mms|tg|whatsapp|signal|sgnl|viber|skype|facetime|facetime-audio|sips?|xmpp|ircs?|magnet|data|` +
		`javascript|vbscript|file|blob|view-source|intent|market|itms-apps|itms|geo|bitcoin|ethereum|lightning|upi|ftps?|sftp|ssh|git|wss?|ldaps?|feed|webcal|nntp|` +
		`urn|weixin|fb|fb-messenger|instagram|twitter|zoommtg|msteams|slack|spotify):)[^\s:]`)
	// domain is labels with dots between them.
	domain = lazy(`[\pL\pN][\pL\pN\pM_-]*(?:\.[\pL\pN\pM_-]+)*\.[\pL\pN\pM-]*[\pL\pN\pM]`)
	// plainDomain is the same for those who take letters of other scripts for
	// the words around it.
	plainDomain = lazy(`[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*\.[a-z0-9-]*[a-z0-9]`)
	// symbolDomain is one with a label that ends with a symbol, as i❤.ws.
	symbolDomain = lazy(`[\pL\pN\pM\p{So}\p{Sk}_.-]*[\p{So}\p{Sk}](?:\.[\pL\pN\pM-]*[\pL\pN\pM])+`)
	// bracketed is an IPv6 address as addresses have it.
	bracketed = lazy(`\[[0-9a-f:.%]*:[0-9a-f:.%]*:[0-9a-f:.%]*\]`)
)

// lazy returns a pattern that is compiled when it is first used.
func lazy(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// addresses returns the addresses of a text, in order and without overlaps.
func addresses(text string) []address { return fold(text, false).addresses() }

func (f *folded) addresses() []address {
	var out []address
	at := 0
	for _, c := range f.candidates() {
		start := max(c.start, at)
		if c.scheme == "" {
			if start >= c.end || !leads(f.text[start:c.end], f.text[c.end:]) {
				continue
			}
			start = f.mailFrom(at, start)
		} else if c.start < at {
			continue
		}
		end := c.end
		if c.scheme != "" || goesOn(f.text[end:]) {
			end += runEnd(f.text[end:])
		}
		a := address{text: f.text[start:end], scheme: c.scheme}.narrow()
		a.from, a.to = f.starts[start], f.ends[start+len(a.text)-1]
		out = append(out, a)
		at = start + len(a.text)
	}
	return out
}

// candidate is where an address may begin, and what of it is known.
type candidate struct {
	start, end int
	scheme     string
}

// candidates are in the order of their beginnings.
func (f *folded) candidates() (out []candidate) {
	for _, m := range withScheme().FindAllStringSubmatchIndex(f.text, -1) {
		out = append(out, candidate{m[0], m[1], f.text[m[0]:m[3]]})
	}
	for _, m := range opaque().FindAllStringSubmatchIndex(f.text, -1) {
		out = append(out, candidate{m[0], m[1], f.text[m[0]:m[3]]})
	}
	for _, m := range bracketed().FindAllStringIndex(f.text, -1) {
		out = append(out, candidate{m[0], m[1], "//"})
	}
	for _, pattern := range []*regexp.Regexp{domain(), plainDomain(), symbolDomain()} {
		for _, m := range pattern.FindAllStringIndex(f.text, -1) {
			out = append(out, candidate{m[0], m[1], ""})
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return a.start - b.start })
	return out
}

// gap is what no address has in it.
const gap = " \t\n\r\v\f<>\"`"

// runEnd returns the end of a run without white space.
func runEnd(s string) int {
	if i := strings.IndexAny(s, gap); i >= 0 {
		return i
	}
	return len(s)
}

// goesOn reports whether an address continues after its host.
func goesOn(rest string) bool {
	return rest != "" && strings.ContainsRune("/?#\\@%", rune(rest[0])) || len(rest) > 1 && rest[0] == ':' && rest[1] >= '0' && rest[1] <= '9'
}

// leads reports whether words separated by dots are a host, as chat programs see
// it: by its last word, or by what follows.
func leads(name, rest string) bool {
	if a, err := netip.ParseAddr(name); err == nil && a.Is4() {
		return true
	}
	for strings.Contains(name, ".") {
		before := name[:strings.LastIndexByte(name, '.')]
		if isTop(name, name[len(before)+1:], rest) {
			return true
		}
		name, rest = before, ""
	}
	return false
}

// isTop reports whether the last word of a name is a top-level domain.
func isTop(name, last, rest string) bool {
	if len(last) < 2 || strings.Trim(last, "0123456789_-") == "" {
		return false
	}
	if strings.HasPrefix(last, "xn--") || reserved[last] || strings.HasPrefix(name, "www.") {
		return true
	}
	if goesOn(rest) {
		return true
	}
	ascii, err := idna.ToASCII(ending(name))
	if err != nil {
		return true
	}
	suffix, managed := publicsuffix.PublicSuffix(ascii)
	return managed || strings.Contains(suffix, ".")
}

// ending returns the part of a name that determines its owner.
func ending(name string) string {
	at := len(name)
	for range 6 {
		if at = strings.LastIndexByte(name[:at], '.'); at < 0 {
			return name
		}
	}
	return name[at+1:]
}

// reserved are last words that no registry assigns.
var reserved = map[string]bool{"example": true, "test": true, "invalid": true, "localhost": true, "local": true, "internal": true, "onion": true, "lan": true}

// mailFrom returns the beginning of an address without a scheme: before its @, if
// there is one.
func (f *folded) mailFrom(from, start int) int {
	before := f.text[from:start]
	before = before[strings.LastIndexAny(before, gap)+1:]
	if len(before) > 1 && strings.HasSuffix(before, "@") {
		return start - len(before)
	}
	return start
}

// narrow returns an address without trailing characters that do not belong to it.
// It keeps characters that could be taken for a part of the host: [address.target]
// refuses them.
func (a address) narrow() address {
	rest := a.text[len(a.scheme):]
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	a.mail = strings.Contains(authority, "@")
	if i := strings.IndexAny(rest, "()[]{}|^',;!*"); i > 0 && !strings.ContainsAny(authority, "@\\%") {
		rest = rest[:i]
	}
	if trimmed := strings.TrimRight(rest, sentenceEnd); trimmed != "" {
		rest = trimmed
	}
	a.text = a.scheme + rest
	return a
}

var plainAuthority = lazy(`^([\pL\pN\pM._-]+)(?::([0-9]{1,5}))?$`)

// target returns the host, in ASCII, and the port of an address in plain notation.
// The default ports are "".
func (a address) target() (host, port string, fine bool) {
	if a.scheme != "" && a.scheme != "http://" && a.scheme != "https://" {
		return "", "", false
	}
	authority, path := a.text[len(a.scheme):], ""
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if a.mail && (a.scheme != "" || path != "") || strings.Contains(path, "://") || strings.Contains(path, "\\") || strings.Contains(path, "%3a%2f") {
		return "", "", false
	}
	if a.mail {
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
	}
	m := plainAuthority().FindStringSubmatch(authority)
	if m == nil || a.mail && m[2] != "" {
		return "", "", false
	}
	if host, fine = plainHost(m[1]); !fine {
		return "", "", false
	}
	return host, usual(m[2]), true
}

// authorHost reports whether an address in the author's text allows its whole host:
// it must be more than a name.
func (a address) authorHost() bool {
	return !a.mail && (a.scheme != "" || strings.HasPrefix(a.text, "www.") || strings.ContainsAny(a.text, "/?#"))
}

// usual returns a port, or "" for a default port.
func usual(port string) string {
	if port == "80" || port == "443" {
		return ""
	}
	return port
}

// plainHost returns a host in ASCII: a name of several words, or an IPv4 address in
// the usual notation.
func plainHost(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".")
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), a.Is4()
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || !strings.Contains(ascii, ".") {
		return "", false
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil { // some programs read it as a number
		return "", false
	}
	return ascii, true
}

// spreads reports whether the subdomains of a host belong to its owner.
func spreads(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	suffix, _ := publicsuffix.PublicSuffix(host)
	return suffix != host
}

func split(h string) (host, port string) {
	host, port, _ = strings.Cut(h, ":")
	return host, usual(port)
}

func join(host, port string) string {
	if port == "" {
		return host
	}
	return host + ":" + port
}
