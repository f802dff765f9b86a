package media

import (
	"mime"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

const (
	unknownType = "application/octet-stream"
	maxTypeText = 255
)

// vague are unspecific types, which many kinds of files have by their content.
var vague = []string{
	unknownType, "text/plain", "text/xml", "application/json", "application/zip", "application/x-ole-storage",
}

// containers are types of files that may contain only sound.
var containers = []string{
	"video/mp4", "video/3gpp", "video/3gpp2", "video/webm", "video/quicktime", "video/ogg", "application/ogg",
}

// detectType returns the type of a file that begins with head and has a declared
// type. The package documentation has the rules.
func detectType(declared string, head []byte) (string, error) {
	found := mimetype.Detect(head)
	name := plain(found)
	want, params, err := mime.ParseMediaType(declared)
	if err != nil || len(declared) > maxTypeText || want == unknownType || !strings.Contains(want, "/") {
		return name, nil
	}
	fam := family(want)
	if !fits(fam, name) {
		return "", &Mismatch{Field: "type", Want: want, Got: name}
	}
	switch {
	case slices.Contains(vague, name), format(want) == format(name):
		return mime.FormatMediaType(want, params), nil
	case found.Is(want) && family(name) == fam: // the same type by another name
		return mime.FormatMediaType(name, params), nil
	case found.Is(want):
		return mime.FormatMediaType(want, params), nil
	case fam == "audio" && family(name) != fam:
		return "audio/" + format(name), nil
	}
	return name, nil
}

// fits reports whether a file of type found can be of the family.
func fits(fam, found string) bool {
	switch {
	case fam == "", found == unknownType, family(found) == fam:
		return true
	case fam == "audio":
		return slices.Contains(containers, found)
	default:
		return fam == "video" && found == "application/ogg"
	}
}

// family returns "image", "audio" or "video", and "" for any other type.
func family(t string) string {
	fam, _, _ := strings.Cut(t, "/")
	if fam == "audio" || fam == "video" || fam == "image" && t != "image/svg+xml" {
		return fam
	}
	return ""
}

// format returns what follows the slash.
func format(t string) string {
	_, f, _ := strings.Cut(t, "/")
	return f
}

// plain returns the name of a type without its parameters.
func plain(m *mimetype.MIME) string {
	name := base(m.String())
	if name == "audio/x-m4a" {
		return "audio/mp4"
	}
	return name
}

// base returns a type without its parameters.
func base(t string) string {
	name, _, _ := strings.Cut(t, ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// shown reports whether a browser may show a file of type t inline, and the type
// with which it is served. A file that must not be shown is served with a type that
// browsers do not run.
func shown(t string) (served string, ok bool) {
	switch {
	case family(t) != "":
		return t, true
	case t == "application/ogg":
		return "audio/ogg", true
	case t == "application/pdf":
		return t, false
	}
	return unknownType, false
}
