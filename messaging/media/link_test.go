package media_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
)

const newSecret = "another secret, which is the newer one"

func TestLink(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib := newLibrary(t, folder)
	f := save(t, lib, jpegFile(2, 2))
	link := lib.Link(f.ID, "Férias 2026.jpg")
	require.Regexp(t, `^files/`+f.ID+`/[A-Za-z0-9_-]{43}/F%C3%A9rias%202026\.jpg$`, link)
	require.Equal(t, link, lib.Link(f.ID, "Férias 2026.jpg"), "always the same")
	require.Equal(t, http.StatusOK, get(lib, link).Code)

	rotated := library(t, folder, newSecret, secret)
	require.Equal(t, http.StatusOK, get(rotated, link).Code, "all secrets verify")
	require.NotEqual(t, link, rotated.Link(f.ID, "Férias 2026.jpg"), "the first signs")
	require.Equal(t, http.StatusNotFound, get(library(t, folder, newSecret), link).Code)
}

// Whatever is wrong with a link, the answer is the same.
func TestWrongLink(t *testing.T) {
	t.Parallel()
	folder, _ := newFolder(t)
	lib := newLibrary(t, folder)
	f, gone := save(t, lib, jpegFile(2, 2)), save(t, lib, jpegFile(2, 2))
	link := lib.Link(f.ID, "a.jpg")
	require.Equal(t, http.StatusOK, get(lib, link).Code)
	require.NoError(t, lib.Delete(t.Context(), gone.ID))

	want := get(lib, "nothing")
	parts := strings.Split(link, "/")
	for name, wrong := range map[string]string{
		"deleted":          lib.Link(gone.ID, "a.jpg"),
		"never was":        lib.Link(newID(t), "a.jpg"),
		"other id":         strings.Replace(link, f.ID, gone.ID, 1),
		"other name":       strings.Replace(link, "a.jpg", "b.jpg", 1),
		"other extension":  strings.Replace(link, "a.jpg", "a.html", 1),
		"no name":          strings.TrimSuffix(link, "a.jpg"),
		"deeper":           link + "/x",
		"other signature":  strings.Replace(link, parts[2], flip(parts[2]), 1),
		"padded signature": strings.Replace(link, parts[2], parts[2]+"=", 1),
		"spare bits":       strings.Replace(link, parts[2], parts[2][:42]+string(next(parts[2][42])), 1),
		"short signature":  strings.Replace(link, parts[2], parts[2][:22], 1),
		"no signature":     strings.Replace(link, parts[2], "", 1),
		"other root":       strings.Replace(link, "files/", "file/", 1),
		"path trick":       strings.Replace(link, f.ID, "../"+f.ID, 1),
		"capital id":       strings.Replace(link, f.ID, strings.ToUpper(f.ID), 1),
	} {
		got := get(lib, wrong)
		require.Equal(t, http.StatusNotFound, got.Code, name)
		require.Equal(t, want.Body.String(), got.Body.String(), name)
		require.Equal(t, want.Result().Header, got.Result().Header, name)
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodOptions} {
		w := httptest.NewRecorder()
		lib.ServeHTTP(w, httptest.NewRequest(method, "/"+link, nil))
		require.Equal(t, http.StatusNotFound, w.Code, method)
	}
}

// flip changes a character in the middle, next the last one within the bits
// that a decoder could ignore.
func flip(s string) string {
	if s[20] == 'A' {
		return s[:20] + "B" + s[21:]
	}
	return s[:20] + "A" + s[21:]
}

func next(c byte) byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return alphabet[strings.IndexByte(alphabet, c)+1]
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"report.pdf":                      "report.pdf",
		"":                                "file",
		"..":                              "file",
		". .":                             "file",
		".htaccess":                       "htaccess",
		"a/b/c.txt":                       "c.txt",
		`C:\Users\x\c.txt`:                "c.txt",
		"../../etc/passwd":                "passwd",
		"a\r\nSet-Cookie: x=1.txt":        "aSet-Cookie_ x_1.txt",
		"a\tb  c.txt":                     "ab c.txt",
		`a"b;c'd<e>.txt`:                  "a_b_c_d_e_.txt",
		"photo\u202egpj.exe":              "photogpj.exe",
		"Fe\u0301rias (1).jpg":            "Férias (1).jpg",
		"写真.png":                          "写真.png",
		"100%.png":                        "100_.png",
		"a?b#c&d.png":                     "a_b_c_d.png",
		"\xff\xfe.png":                    "_.png",
		"name.":                           "name",
		strings.Repeat("x", 300):          strings.Repeat("x", 100),
		strings.Repeat("é", 99) + ".jpeg": strings.Repeat("é", 47) + ".jpeg",
	} {
		require.Equal(t, want, media.CleanName(in), "%q", in)
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{"a.jpg", "", "..", "a/b\\c", "\x00\u202e.x", strings.Repeat("é.", 80), "a.", " .a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := media.CleanName(s)
		require.True(t, utf8.ValidString(name))
		require.NotEmpty(t, name)
		require.LessOrEqual(t, len(name), 100)
		require.NotContains(t, ". ", name[:1])
		require.NotContains(t, ". ", name[len(name)-1:])
		require.False(t, strings.ContainsAny(name, "/\\\r\n\"%?#;:\x00"))
		require.Equal(t, name, media.CleanName(name), "it is clean")
		back, err := url.PathUnescape(url.PathEscape(name))
		require.NoError(t, err)
		require.Equal(t, name, back)
	})
}

// No path but a link is followed.
func FuzzLink(f *testing.F) {
	folder, err := media.OpenFolder(f.TempDir())
	require.NoError(f, err)
	lib := newLibrary(f, folder)
	file := save(f, lib, jpegFile(2, 2))
	link := "/" + lib.Link(file.ID, "a.jpg")
	for _, s := range []string{link, "/", "", "/files///", link + "/", "//" + link, "/files/" + file.ID + "//a.jpg"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		w := httptest.NewRecorder()
		lib.ServeHTTP(w, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
		want := http.StatusNotFound
		if strings.TrimPrefix(path, "/") == strings.TrimPrefix(link, "/") {
			want = http.StatusOK
		}
		require.Equal(t, want, w.Code, "%q", path)
	})
}

func library(t testing.TB, store media.Store, secrets ...string) *media.Library {
	t.Helper()
	lib, err := media.New(store, &media.Options{Secrets: secrets})
	require.NoError(t, err)
	return lib
}

// get asks for a link, with headers given as names and values in turn.
func get(lib *media.Library, link string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL.Path, _ = url.PathUnescape("/" + link)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	lib.ServeHTTP(w, r)
	return w
}
