package links_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/trunklinehq/trunkline/internal/links"
)

// FuzzClean searches a cleaned text for hosts with an independent reader: only the
// allowed host may be in it.
func FuzzClean(f *testing.F) {
	hosts := []string{"evil.com", "shop.example@evil.com", "shop.example.evil.com", "ｅｖｉｌ．com", "ev\u200bil.com", "2130706433", "[::1]", "0x7f.1", "shop.example", "a.shop.example:99"}
	for _, before := range []string{"", "https://", "HTTP:\\\\", "see ", "[x](https://", "x.[y](http://a.b)", "mailto:a@", "https://shop.example/", "https://shop.example", "ht\u00adtps://", "(", "'", "@"} {
		for _, host := range hosts {
			for _, behind := range []string{"", "/a?b=secret", ")", ".", "\ncom", ",evil.com", "](evil.com)", "%2ecom", "@"} {
				f.Add(before + host + behind)
			}
		}
	}
	rule := links.New(links.Options{Hosts: []string{"shop.example"}})
	f.Fuzz(func(t *testing.T, text string) {
		out := rule.Clean(text)
		for _, host := range seen(out) {
			require.Truef(t, host == "shop.example" || strings.HasSuffix(host, ".shop.example"), "%q leads to %q, from %q", out, host, text)
		}
		require.Equal(t, out, rule.Clean(out))
	})
}

var bare = regexp.MustCompile(`[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|me|example)\b`)

// seen returns the hosts to which a text leads, as a reader of addresses that knows
// nothing of this package sees them.
func seen(text string) (hosts []string) {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKC.String(text)))
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			break
		}
		rest := text[at+3:]
		end := len(rest)
		if i := strings.IndexAny(rest, " \t\r\n\f\v\u0085\u2028\u2029<>\"`"); i >= 0 {
			end = i
		}
		if strings.HasSuffix(text[:at], "http") || strings.HasSuffix(text[:at], "https") {
			authority := rest[:end]
			if i := strings.IndexAny(authority, `/?#\`); i >= 0 {
				authority = authority[:i]
			}
			authority = authority[strings.LastIndexByte(authority, '@')+1:]
			if i := strings.IndexAny(authority, `:)],;!'*|^({}[`); i >= 0 {
				authority = authority[:i]
			}
			if host := strings.TrimRight(authority, "._~-»”’…?"); host != "" {
				hosts = append(hosts, host)
			}
			path := rest[:end]
			if i := strings.IndexAny(path, "()[]{}|^',;!*"); i >= 0 {
				end = i
			}
		}
		text = text[:at] + " " + rest[end:]
	}
	return append(hosts, bare.FindAllString(text, -1)...)
}
