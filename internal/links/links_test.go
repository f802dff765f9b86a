package links_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trunklinehq/trunkline/internal/links"
)

const shop = "You answer for https://shop.example, https://bücher.example/ and http://dev.shop.test:8080. Write to help@mail.example. See plain.example."

func TestClean(t *testing.T) {
	t.Parallel()
	rule := links.New(links.Options{
		Hosts: []string{"docs.example", "example.org:8443", "192.0.2.7"}, Author: shop, Written: []string{"What is https://own.example/c? And me@own.example"},
	})
	const gone = links.Removed
	for _, c := range []struct{ name, text, want string }{
		{"the author's", "https://shop.example/a?b=c#d", "https://shop.example/a?b=c#d"},
		{"below it", "https://a.b.shop.example, http://shop.example.", "https://a.b.shop.example, http://shop.example."},
		{"without a scheme", "shop.example and www.shop.example/x", "shop.example and www.shop.example/x"},
		{"in capitals", "HTTPS://SHOP.EXAMPLE/A", "HTTPS://SHOP.EXAMPLE/A"},
		{"with the dot of the root", "https://shop.example./a", "https://shop.example./a"},
		{"the server's", "https://docs.example/a", "https://docs.example/a"},
		{"a name of the author's, as it stands there", "plain.example https://plain.example", "plain.example " + gone},
		{"the contact's", "Yours is https://own.example/c! Not https://own.example/d", "Yours is https://own.example/c! Not " + gone},
		{"another's", "https://evil.example/x?d=secret", gone},
		{"it ends alike", "https://notshop.example", gone},
		{"it begins alike", "https://shop.example.evil.example/", gone},
		{"a name in the path", "https://evil.example/shop.example", gone},
		{"without a scheme, another's", "evil.example or evil.com/x, evil.example:8080 and t.me/evil", gone + " or " + gone + ", " + gone + " and " + gone},
		{"a port", "https://shop.example:8443/ https://shop.example:443/", gone + " https://shop.example:443/"},
		{"the author's port", "http://dev.shop.test:8080/x http://dev.shop.test/x", "http://dev.shop.test:8080/x " + gone},
		{"the server's port", "https://example.org:8443/ https://example.org/", "https://example.org:8443/ " + gone},
		{"userinfo", "https://shop.example@evil.example/", gone},
		{"userinfo with a colon", "https://shop.example:443@evil.example", gone},
		{"userinfo before a word", "https://shop.example@evil", gone},
		{"userinfo behind a quote", "https://shop.example'@2130706433/x", gone},
		{"a backslash", `https://shop.example\@evil.example https:\\evil.example`, gone + " " + gone},
		{"one slash, and three", "https:/evil.example https:///evil.example https:evil.example", gone + " " + gone + " https:" + gone},
		{"no scheme but slashes", "//evil.example/x", "//" + gone},
		{"percent signs in the host", "https://shop.example%2eevil.example https://%65vil.example", gone + " " + gone},
		{"percent signs for all of it", "https%3A%2F%2Fevil.example%2Fx", "https%3A%2F%" + gone},
		{"an address in the address", "https://shop.example/r?u=https://evil.example https://shop.example/r?u=https%3A%2F%2Fevil.example", gone + " " + gone},
		{"IDN", "https://bücher.example https://xn--bcher-kva.example https://bu\u0308cher.example", "https://bücher.example https://xn--bcher-kva.example https://bu\u0308cher.example"},
		{"a homograph", "https://sh\u043ep.example and xn--shp-hlc.example", gone + " and " + gone},
		{"punycode of another", "https://xn--e1awd7f.com", gone},
		{"IPv4", "http://127.0.0.1/ 10.0.0.1 http://192.0.2.7/a", gone + " " + gone + " http://192.0.2.7/a"},
		{"IPv4 below a name", "http://192.0.2.7.evil.example/", gone},
		{"IPv6", "http://[::1]/ [2001:db8::1]:80/x http://[::ffff:192.0.2.7]/", gone + " " + gone + "]:80/x " + gone},
		{"one number", "http://2130706433/ http://0x7f000001/ http://017700000001/ http://127.1", gone + " " + gone + " " + gone + " " + gone},
		{"symbols", "i\u2764.ws/secret \U0001F4A9.la www.i\u2764\uFE0F.ws \U0001F44B\U0001F3FD.to/x", gone + " " + gone + " " + gone + " " + gone},
		{"symbols before an allowed one", "\U0001F449shop.example \U0001F60A.Danke", "\U0001F449shop.example \U0001F60A.Danke"},
		{"full-width dots", "https://evil．example evil。example https://evil｡com/x", gone + " " + gone + " " + gone},
		{"full-width letters", "ｅｖｉｌ.example ｈｔｔｐｓ：／／evil.example", gone + " " + gone},
		{"a dot leader", "evil․com evil﹒com", gone + " " + gone},
		{"what is not seen", "ev\u200bil.\u2060com https://shop.example\u200b.evil.example htt\u00adps://evil.example", gone + " " + gone + " " + gone},
		{"lines", "https://evil.\nexample/x https://shop.example\n.evil.com", gone + ".\nexample/x https://shop.example\n." + gone},
		{"a null", "ev\x00il.com", gone},
		{
			"other schemes", "tg://resolve?domain=evil tg:resolve?domain=evil mailto:a@evil.example?body=x tel:+34600 javascript:alert(1) ftp://shop.example data:text/html,x",
			gone + " " + gone + " " + gone + " " + gone + " " + gone + " (1) " + gone + " " + gone + ",x",
		},
		{"a scheme before one", "javascript://shop.example/%0a view-source:https://shop.example", gone + " " + gone},
		{"mail", "help@mail.example, spy@mail.example, spy@evil.com, info@shop.example, me@own.example", "help@mail.example, " + gone + ", " + gone + ", info@shop.example, me@own.example"},
		{"Markdown", "[here](https://evil.example) ![it](https://evil.example/p.png?d=1) [ours](https://shop.example/x)", "here it [ours](https://shop.example/x)"},
		{"a label that is one", "[https://evil.example](https://shop.example)", "[" + gone + "](https://shop.example)"},
		{"behind Markdown", "[x](https://shop.example/a)evil.com", "[x](https://shop.example/a)" + gone},
		{"what is left is one", "ev[il](https://a.example).com x.[com](https://a.example)/y", gone + " " + gone},
		{"a reference", "[1]: https://evil.example <https://evil.example> <a href=\"evil.com\">", "[1]: " + gone + " <" + gone + "> <a href=\"" + gone + "\">"},
		{"other scripts around it", "请访问evil.com看看 évil.com 请访问shop.example看看", "请访问" + gone + "看看 " + gone + " 请访问shop.example看看"},
		{"what is not seen behind it", "evil.com\u200bx https://sh\u200bop.example", gone + "\u200bx " + gone + "\u200b" + gone},
		{"emphasis", "*evil.com* _evil.com_ ~evil.com~ **https://evil.com**", "*" + gone + "* " + "_" + gone + "_ ~" + gone + "~ **" + gone + "**"},
		{"no addresses", "and/or 1.5/2, e.g./i.e. mine. It costs 3.50. Node.js v2.1.0, a.m. … C:\\Users", "and/or 1.5/2, e.g./i.e. mine. It costs 3.50. Node.js v2.1.0, a.m. … C:\\Users"},
		{"sentences", "好的。我看看。OK。 Merci…Oui", "好的。我看看。OK。 Merci…Oui"},
	} {
		assert.Equal(t, c.want, rule.Clean(c.text), c.name)
	}
}
