package media

import (
	"encoding/base64"
	"net/url"
	"strings"
)

const (
	linkRoot    = "files"
	linkPurpose = "link"
)

// Link returns the address of a file, relative to where the Library is mounted:
// "files/<id>/<signature>/<name>". The name is passed through [CleanName].
func (l *Library) Link(id, name string) string {
	name = CleanName(name)
	mac := l.keys.MAC(linkPurpose, signed(id, name))
	return linkRoot + "/" + id + "/" + base64.RawURLEncoding.EncodeToString(mac) + "/" + url.PathEscape(name)
}

// Linked returns the id of the file of an address from [Library.Link]. The path
// must be unescaped. ok reports whether the signature is valid.
func (l *Library) Linked(urlPath string) (id string, ok bool) {
	id, _, ok = l.follow(urlPath)
	return id, ok
}

// follow returns the id and the name of a link with a valid signature. The path
// must be unescaped.
func (l *Library) follow(urlPath string) (id, name string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(urlPath, "/"), "/")
	if len(parts) != 4 || parts[0] != linkRoot || CheckID(parts[1]) != nil {
		return "", "", false
	}
	id, name = parts[1], parts[3]
	mac, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || !l.keys.Verify(linkPurpose, signed(id, name), mac) {
		return "", "", false
	}
	return id, name, true
}

// signed returns the text that a link's signature covers. All ids have the same
// length, so that no two links have the same text.
func signed(id, name string) []byte { return []byte(id + "/" + name) }
