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

// File is a file that the fake keeps for a line.
type File struct {
	ID   string
	Line string // phone number id, or id of a page
	Name string
	MIME string
	Data []byte
}

// FileFault is a way to spoil the downloads of a file.
type FileFault struct {
	Cuts      []int // the connection ends after so many bytes of the answer, one download each
	Expired   int   // downloads whose address has expired already
	Status    []int // answers instead of the file, one download each
	NoRanges  bool  // always the whole file
	WrongHash bool  // the hash that is told belongs to another file
	Gone      bool  // its id is not known any more
}

// storedFile is a file with what is to go wrong with it.
type storedFile struct {
	File
	fault   FileFault
	version int // of its address
}

// PutFile keeps a file as if a contact had sent it to the line ("": the
// first) or to a page, and returns its id.
func (s *Server) PutFile(line, mimeType string, data []byte) (id string) {
	owner := line
	if l, known := s.line(line); known {
		owner = l.PhoneNumberID
	}
	return s.keep(File{Line: owner, MIME: mimeType, Data: slices.Clone(data)})
}

func (s *Server) keep(f File) string {
	n, err := cryptorand.Int(cryptorand.Reader, big.NewInt(1e15))
	if err != nil {
		panic(err) // never fails
	}
	f.ID = strconv.FormatInt(1e15+n.Int64(), 10)
	s.record(func() { s.files[f.ID] = &storedFile{File: f} })
	return f.ID
}

// Files returns the files that are kept, those that were uploaded included.
func (s *Server) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	var files []File
	for _, id := range slices.Sorted(maps.Keys(s.files)) {
		files = append(files, s.files[id].File)
	}
	return files
}

// SpoilFile sets what goes wrong with a file's downloads from now on.
func (s *Server) SpoilFile(id string, f FileFault) {
	s.record(func() {
		if stored := s.files[id]; stored != nil {
			stored.fault = f
		}
	})
}

// upload takes the form that hands a file over.
func (s *Server) upload(l Line, contentType string, body []byte) *reply {
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
	f.Line = l.PhoneNumberID
	return ok(map[string]string{"id": s.keep(f)})
}

// readForm takes a form apart whose file is called name.
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

// file answers for the id of a file that the token may see; nil when there is
// none.
func (s *Server) file(c *call) *reply {
	s.mu.Lock()
	stored := s.files[c.id]
	if stored == nil || stored.fault.Gone || c.edge != "" {
		s.mu.Unlock()
		return nil
	}
	line := stored.Line
	s.mu.Unlock()
	if _, may := s.visible(line, c.token); !may {
		return nil
	}
	if asked := c.query["phone_number_id"]; len(asked) > 0 && asked[0] != line {
		return nil
	}
	switch c.method {
	case http.MethodDelete:
		s.record(func() { delete(s.files, c.id) })
		return success
	case http.MethodGet:
		return ok(s.whereFile(stored, c.host))
	}
	return nil
}

func (s *Server) whereFile(stored *storedFile, host string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256(stored.Data)
	if stored.fault.WrongHash {
		sum[0] ^= 1
	}
	stored.version++
	until := s.opts.Now().Add(linkTTL).UnixMilli()
	return map[string]any{
		"messaging_product": "whatsapp",
		"id":                stored.ID,
		"url":               fmt.Sprintf("http://%s%s%s?version=%d&until=%d", host, attachment, stored.ID, stored.version, until),
		"mime_type":         stored.MIME,
		"sha256":            hex.EncodeToString(sum[:]),
		"file_size":         len(stored.Data),
	}
}

// download serves a file, as spoiled as it is to be.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.note(r, strings.TrimPrefix(r.URL.Path, "/"), nil)
	s.mu.Lock()
	stored := s.files[strings.TrimPrefix(r.URL.Path, attachment)]
	if stored == nil {
		s.mu.Unlock()
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	cut, status := stored.next(r, s.opts.Now())
	noRanges, data, line := stored.fault.NoRanges, stored.Data, stored.Line
	s.mu.Unlock()
	_, open := s.page(line)
	if _, may := s.visible(line, bearer(r)); !may && (!open || line == "") {
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

// next takes what goes wrong with this download. It runs under the lock.
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

// cutting ends the connection after left bytes.
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
