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

// Link is the address of a file, relative to where the Library is mounted:
// "files/<id>/<signature>/<name>". The name is passed through [CleanName].
func (l *Library) Link(id, name string) string {
	name = CleanName(name)
	mac := l.keys.MAC(linkPurpose, signed(id, name))
	return linkRoot + "/" + id + "/" + base64.RawURLEncoding.EncodeToString(mac) + "/" + url.PathEscape(name)
}

// Linked is the id of the file that an address of [Library.Link] leads to; the
// path is the unescaped one. ok says that its signature verifies.
func (l *Library) Linked(urlPath string) (id string, ok bool) {
	id, _, ok = l.follow(urlPath)
	return id, ok
}

// follow is the id and the name of a link whose signature verifies. The path
// is the unescaped one.
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

// signed is what a link's signature covers. Ids have one length, so that no
// two links have the same text.
func signed(id, name string) []byte { return []byte(id + "/" + name) }
