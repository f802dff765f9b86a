package graphtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math/big"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	cryptorand "crypto/rand"
)

const (
	maxUpload  = 101 << 20
	linkTTL    = 5 * time.Minute
	attachment = "/attachments/" // where files are downloaded
)

// File is a file that the fake stores for a number.
type File struct {
	ID    string
	Owner string // phone number id, or id of a page
	Name  string
	MIME  string
	Data  []byte
}

// FileFault describes how downloads of a file fail.
type FileFault struct {
	Cuts      []int // the connection is closed after so many bytes of the answer, one download each
	Expired   int   // so many downloads have an expired address
	Status    []int // answers instead of the file, one download each
	NoRanges  bool  // always send the whole file
	WrongHash bool  // report the hash of another file
	Gone      bool  // the id is not known any more
}

// storedFile is a file with its fault.
type storedFile struct {
	File
	fault   FileFault
	version int // of its address
}

// Files are the files that a fake stores.
type Files struct {
	fake *Server
	kept map[string]*storedFile
}

// Put stores a file as if a contact had sent it to the number ("": the first) or
// to a page, and returns its id.
func (fs *Files) Put(number, mimeType string, data []byte) (id string) {
	owner := number
	if l, known := fs.fake.numberOf(number); known {
		owner = l.PhoneNumberID
	}
	return fs.keep(File{Owner: owner, MIME: mimeType, Data: slices.Clone(data)})
}

func (fs *Files) keep(f File) string {
	n, err := cryptorand.Int(cryptorand.Reader, big.NewInt(1e15))
	if err != nil {
		panic(err) // never fails
	}
	f.ID = strconv.FormatInt(1e15+n.Int64(), 10)
	fs.fake.record(func() { fs.kept[f.ID] = &storedFile{File: f} })
	return f.ID
}

// All returns all files, also those that were uploaded.
func (fs *Files) All() []File {
	fs.fake.mu.Lock()
	defer fs.fake.mu.Unlock()
	var files []File
	for _, id := range slices.Sorted(maps.Keys(fs.kept)) {
		files = append(files, fs.kept[id].File)
	}
	return files
}

// Corrupt sets how later downloads of a file fail.
func (fs *Files) Corrupt(id string, f FileFault) {
	fs.fake.record(func() {
		if stored := fs.kept[id]; stored != nil {
			stored.fault = f
		}
	})
}

// upload reads the form of an upload.
func (fs *Files) upload(l Number, contentType string, body []byte) *reply {
	fields, f, refused := readForm(contentType, body, "file")
	switch {
	case refused != nil:
		return refused
	case fields["messaging_product"] != "whatsapp":
		return refuse(100, "(#100) The parameter messaging_product is required.")
	case f.Data == nil || f.Name == "":
		return refuse(100, "(#100) The parameter file is required.")
	case fields["type"] != f.MIME:
		return refuse(100, "(#100) Param file must be a file with the type of the parameter type. Received file of type '%s'.", f.MIME)
	}
	f.Owner = l.PhoneNumberID
	return ok(map[string]string{"id": fs.keep(f)})
}

// readForm reads a form whose file is called name.
func readForm(contentType string, body []byte, name string) (fields map[string]string, f File, refused *reply) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return nil, f, refuse(100, "(#100) The parameter %s is required.", name)
	}
	fields = map[string]string{}
	for form := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]); ; {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // as multipart documents
			return fields, f, nil
		}
		if err != nil {
			return nil, f, refuse(100, "(#100) The form is cut off: %v", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, f, refuse(100, "(#100) The form is cut off: %v", err)
		}
		if part.FormName() == name {
			f.Name, f.MIME, f.Data = part.FileName(), part.Header.Get("Content-Type"), data
		} else {
			fields[part.FormName()] = string(data)
		}
	}
}

// answer answers for the id of a file that the token may read; nil if there is
// none.
func (fs *Files) answer(c *call) *reply {
	fs.fake.mu.Lock()
	stored := fs.kept[c.id]
	if stored == nil || stored.fault.Gone || c.edge != "" {
		fs.fake.mu.Unlock()
		return nil
	}
	number := stored.Owner
	fs.fake.mu.Unlock()
	if _, may := fs.fake.visible(number, c.token); !may {
		return nil
	}
	if asked := c.query["phone_number_id"]; len(asked) > 0 && asked[0] != number {
		return nil
	}
	switch c.method {
	case http.MethodDelete:
		fs.fake.record(func() { delete(fs.kept, c.id) })
		return success
	case http.MethodGet:
		return ok(fs.where(stored, c.host))
	}
	return nil
}

func (fs *Files) where(stored *storedFile, host string) map[string]any {
	fs.fake.mu.Lock()
	defer fs.fake.mu.Unlock()
	sum := sha256.Sum256(stored.Data)
	if stored.fault.WrongHash {
		sum[0] ^= 1
	}
	stored.version++
	until := fs.fake.opts.Now().Add(linkTTL).UnixMilli()
	return map[string]any{
		"messaging_product": "whatsapp",
		"id":                stored.ID,
		"url":               fmt.Sprintf("http://%s%s%s?version=%d&until=%d", host, attachment, stored.ID, stored.version, until),
		"mime_type":         stored.MIME,
		"sha256":            hex.EncodeToString(sum[:]),
		"file_size":         len(stored.Data),
	}
}

// download serves a file, with its fault.
func (fs *Files) download(w http.ResponseWriter, r *http.Request) {
	fs.fake.note(r, strings.TrimPrefix(r.URL.Path, "/"), nil)
	fs.fake.mu.Lock()
	stored := fs.kept[strings.TrimPrefix(r.URL.Path, attachment)]
	if stored == nil {
		fs.fake.mu.Unlock()
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	cut, status := stored.next(r, fs.fake.opts.Now())
	noRanges, data, number := stored.fault.NoRanges, stored.Data, stored.Owner
	fs.fake.mu.Unlock()
	_, open := fs.fake.Pages.find(number)
	if _, may := fs.fake.visible(number, bearer(r)); !may && (!open || number == "") {
		status = http.StatusUnauthorized
	}
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	if noRanges {
		r.Header.Del("Range")
	}
	w.Header().Set("Content-Type", stored.MIME)
	if cut > 0 {
		w = &cutting{w, cut}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// next returns the fault of this download. The caller holds the lock.
func (k *storedFile) next(r *http.Request, now time.Time) (cut, status int) {
	until, _ := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	switch f := &k.fault; {
	case until < now.UnixMilli():
		return 0, http.StatusNotFound
	case f.Expired > 0:
		f.Expired--
		return 0, http.StatusNotFound
	case len(f.Status) > 0:
		status, f.Status = f.Status[0], f.Status[1:]
		return 0, status
	case len(f.Cuts) > 0:
		cut, f.Cuts = f.Cuts[0], f.Cuts[1:]
		return cut, 0
	}
	return 0, 0
}

// cutting closes the connection after left bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}
