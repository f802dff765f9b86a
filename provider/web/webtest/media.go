package webtest

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/util/cbcutil"
)

const (
	mediaHost   = "mmg.whatsapp.net"
	mediaAuth   = "webtest"
	filePath    = "/v/"
	largestFile = 128 << 20
)

// file is an encrypted file on the media host.
type file struct {
	data   []byte
	status int // of the answer to who asks for it; 0: the file
}

func (c *conn) mediaHosts(n, _ *node) {
	c.result(n, node{
		Tag: "media_conn", Attrs: attrs{"auth": mediaAuth, "ttl": 300, "auth_ttl": 3600, "max_buckets": 12},
		Content: []node{{Tag: "host", Attrs: attrs{"hostname": mediaHost}}},
	})
}

// serveUpload takes a file, or forgets one.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("auth") != mediaAuth {
		http.Error(w, "auth", http.StatusUnauthorized)
		return
	}
	if status := s.fileFault(); status != 0 {
		http.Error(w, "as the test wants", status)
		return
	}
	token := strings.TrimRight(path.Base(r.URL.Path), "=")
	switch r.Method {
	case http.MethodDelete:
		return
	case http.MethodPost:
	default:
		http.Error(w, "method", http.StatusMethodNotAllowed)
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestFile))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	direct := s.keep(token, data)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"url": "https://" + mediaHost + direct, "direct_path": direct, "handle": token})
}

func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	if status := s.fileFault(); status != 0 {
		http.Error(w, "as the test wants", status)
		return
	}
	s.mu.Lock()
	f := s.files[r.URL.Path]
	s.mu.Unlock()
	switch {
	case f == nil:
		http.NotFound(w, r)
	case f.status != 0:
		http.Error(w, "expired", f.status)
	default:
		_, _ = w.Write(f.data)
	}
}

// keep stores a file and returns its path, which has a query as the network's
// have.
func (s *Server) keep(name string, data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[filePath+name] = &file{data: data}
	return filePath + name + "?ccb=1"
}

func (s *Server) fileFault() (status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.filesFail) > 0 {
		status, s.filesFail = s.filesFail[0], s.filesFail[1:]
	}
	return status
}

// FailMedia answers the next uploads and downloads with these statuses.
func (s *Server) FailMedia(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filesFail = append(s.filesFail, statuses...)
}

// ExpireMedia makes the file answer with 410 or 404, as old ones do. The phones
// that had it can upload it again.
func (s *Server) ExpireMedia(directPath string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[barePath(directPath)]; f != nil {
		f.status = status
	}
}

func barePath(directPath string) string {
	bare, _, _ := strings.Cut(directPath, "?")
	return bare
}

// Upload encrypts a file and puts it on the media host. The answer is what a
// message needs to carry it, as of whatsmeow's own Upload.
func (p *Phone) Upload(data []byte, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	k, err := mediaKeys(key, kind)
	if err != nil {
		return whatsmeow.UploadResponse{}, err
	}
	sealed, err := cbcutil.Encrypt(k.cipher, k.iv, data)
	if err != nil {
		return whatsmeow.UploadResponse{}, fmt.Errorf("webtest: encrypting a file: %w", err)
	}
	sealed = append(sealed, k.sum(sealed)...)
	plainSum, sum := sha256.Sum256(data), sha256.Sum256(sealed)
	direct := p.s.keep(base64.RawURLEncoding.EncodeToString(sum[:]), sealed)
	return whatsmeow.UploadResponse{
		URL: "https://" + mediaHost + direct, DirectPath: direct, MediaKey: key,
		FileEncSHA256: sum[:], FileSHA256: plainSum[:], FileLength: uint64(len(data)),
	}, nil
}

// Download returns the file of a message, checked against what the message
// says of it.
func (p *Phone) Download(m whatsmeow.DownloadableMessage) ([]byte, error) {
	p.s.mu.Lock()
	f := p.s.files[barePath(m.GetDirectPath())]
	p.s.mu.Unlock()
	if f == nil || f.status != 0 {
		return nil, errors.New("webtest: there is no such file")
	}
	k, err := mediaKeys(m.GetMediaKey(), whatsmeow.GetMediaType(m))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(f.data)
	split := len(f.data) - macSize
	if split <= 0 || !hmac.Equal(sum[:], m.GetFileEncSHA256()) || !hmac.Equal(f.data[split:], k.sum(f.data[:split])) {
		return nil, errors.New("webtest: the encrypted file is not the message's")
	}
	data, err := cbcutil.Decrypt(k.cipher, k.iv, append([]byte(nil), f.data[:split]...))
	if err != nil {
		return nil, fmt.Errorf("webtest: decrypting a file: %w", err)
	}
	if plain := sha256.Sum256(data); !hmac.Equal(plain[:], m.GetFileSHA256()) {
		return nil, errors.New("webtest: the file is not the message's")
	}
	return data, nil
}

// macSize is how much of a file's authentication code follows it.
const macSize = 10

// fileKeys encrypt one file.
type fileKeys struct{ iv, cipher, mac []byte }

func mediaKeys(key []byte, kind whatsmeow.MediaType) (fileKeys, error) {
	k, err := hkdf.Key(sha256.New, key, nil, string(kind), 112)
	if err != nil {
		return fileKeys{}, fmt.Errorf("webtest: deriving a file's keys: %w", err)
	}
	return fileKeys{iv: k[:16], cipher: k[16:48], mac: k[48:80]}, nil
}

func (k *fileKeys) sum(sealed []byte) []byte {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write(k.iv)
	mac.Write(sealed)
	return mac.Sum(nil)[:macSize]
}
