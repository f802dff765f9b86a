package node

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// reader converts a contact's message to a value.
type reader struct {
	message map[string]any
	now     time.Time
	locale  string
	region  func() string     // for phone numbers without a country
	answers flow.AnswerReader // nil: none
}

// words returns the content of a message: the chosen option, or the text.
func words(message map[string]any) string {
	if reply := values.ObjectOf(message["reply"]); reply != nil {
		if title := values.TextOf(reply["title"]); title != "" {
			return title
		}
		return values.TextOf(reply["id"])
	}
	return values.TextOf(message["text"])
}

// maxDate is the maximum number of bytes in which read looks for a date with a
// time, since it tries each space between them.
const maxDate = 100

// read converts the message to a value of a kind; false if that is not possible.
func (r reader) read(kind string) (any, bool) {
	said := strings.TrimSpace(words(r.message))
	switch kind {
	case "any":
		return r.any(said)
	case "location":
		return r.location()
	case "image", "file":
		return r.media(kind)
	case "phone":
		return r.phone(said)
	case "boolean":
		if v, ok := r.yes(said); ok || r.message["reply"] != nil {
			return v, ok
		}
		return r.either(kind, said, r.yes)
	}
	if said == "" {
		return nil, false
	}
	if strings.HasPrefix(kind, "date") && len(said) > maxDate {
		return nil, false
	}
	switch kind {
	case "text":
		return said, true
	case "number", "integer":
		n, ok := r.either("number", said, func(said string) (any, bool) { return parseNumber(said, r.locale) })
		return conformRead(n, ok, kind == "integer")
	case "email":
		return r.either(kind, said, r.email)
	case "url":
		v, ok := r.either(kind, said, r.url)
		if !ok {
			return nil, false
		}
		return r.url(values.TextOf(v))
	case "date":
		return r.date(said)
	case "time":
		return r.time(said)
	case "datetime":
		return r.datetime(said)
	}
	return nil, false
}

func conformRead(n any, ok, whole bool) (any, bool) {
	if !ok {
		return nil, false
	}
	return values.ConformNumber(n, whole)
}

func (r reader) any(said string) (any, bool) {
	if said != "" {
		return said, true
	}
	return flow.ValueOf(r.message), len(r.message) > 0
}

func (r reader) location() (any, bool) {
	at := values.ObjectOf(r.message["location"])
	_, okLat := toFloat(at["latitude"])
	_, okLong := toFloat(at["longitude"])
	return flow.ValueOf(at), okLat && okLong
}

func (r reader) media(kind string) (any, bool) {
	media := values.ObjectOf(r.message["media"])
	if media == nil {
		return nil, false
	}
	if kind == "image" && values.TextOf(r.message["type"]) != "image" {
		return nil, false
	}
	return media, true
}

var emailPattern = regexp.MustCompile(`[^\s<>,;:"()\[\]@]+@[^\s<>,;:"()\[\]@]+\.[^\s<>,;:"()\[\]@.]{2,}`)

// email returns the one address in a text.
func (r reader) email(said string) (any, bool) {
	found := emailPattern.FindAllString(said, 2)
	if len(found) != 1 {
		return nil, false
	}
	a, err := mail.ParseAddress(strings.Trim(found[0], ".'"))
	if err != nil || len(a.Address) > 254 {
		return nil, false
	}
	name, host, _ := strings.Cut(a.Address, "@")
	return name + "@" + strings.ToLower(host), true
}

// url returns an address; without a scheme it means https.
func (r reader) url(said string) (any, bool) {
	if strings.ContainsAny(said, " \t\r\n") {
		return nil, false
	}
	if !strings.Contains(said, "://") {
		said = "https://" + said
	}
	u, err := url.Parse(said)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	host := u.Hostname()
	dot := strings.LastIndex(host, ".")
	if dot <= 0 || len(host)-dot < 3 || u.User != nil {
		return nil, false
	}
	return u.String(), true
}

// yesWords and noWords are answers to yes-or-no questions in the languages of
// most contacts; folded.
var (
	yesWords = wordSet("yes y yep yeah yup ok okay sure true 1 correct right agree accept confirm " +
		"ja j jawohl jo si s claro sim oui d'accord da tak ano igen evet kylla haan han hai ya iya co 是 好 对 はい 네 예 да ок نعم כן हाँ हां 👍 ✅")
	noWords = wordSet("no n nope nah false 0 not never decline reject cancel " +
		"nein nee nao non ne nie nem hayir ei nahi nahin iie tidak khong 否 不 不是 いいえ 아니요 아니오 нет не لا לא नहीं 👎 ❌")
)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[fold(word)] = true
	}
	return out
}

// yes reads yes or no, also by the id of a button.
func (r reader) yes(said string) (any, bool) {
	id := values.TextOf(values.ObjectOf(r.message["reply"])["id"])
	for _, s := range []string{id, said} {
		switch s = fold(s); {
		case yesWords[s]:
			return true, true
		case noWords[s]:
			return false, true
		}
	}
	return nil, false
}
