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
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/util/cbcutil"
	"google.golang.org/protobuf/proto"
)

const (
	mediaHost   = "mmg.whatsapp.net"
	mediaAuth   = "webtest"
	filePath    = "/v/"
	largestFile = 128 << 20
)

// MediaHost is the part of a [Server] that stores encrypted files.
type MediaHost struct {
	mu    sync.Mutex
	files map[string]*file // by path
	fail  []int            // statuses of the answers to the next requests
}

// file is an encrypted file on the media host.
type file struct {
	data   []byte
	status int // of the answer to a download; 0: the file is sent
}

// Media returns the host that stores the files of messages.
func (s *Server) Media() *MediaHost { return s.media }

// mediaHosts answers where files are uploaded and downloaded.
func mediaHosts(c *conn, n, _ *node) {
	c.result(n, node{
		Tag: "media_conn", Attrs: attrs{"auth": mediaAuth, "ttl": 300, "auth_ttl": 3600, "max_buckets": 12},
		Content: []node{{Tag: "host", Attrs: attrs{"hostname": mediaHost}}},
	})
}

// serveUpload stores a file. It accepts the deletion of a file and ignores it.
func (h *MediaHost) serveUpload(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("auth") != mediaAuth {
		http.Error(w, "auth", http.StatusUnauthorized)
		return
	}
	if status := h.nextFault(); status != 0 {
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
	direct := h.store(token, data)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"url": "https://" + mediaHost + direct, "direct_path": direct, "handle": token})
}

func (h *MediaHost) serveDownload(w http.ResponseWriter, r *http.Request) {
	if status := h.nextFault(); status != 0 {
		http.Error(w, "as the test wants", status)
		return
	}
	f := h.file(r.URL.Path)
	switch {
	case f == nil:
		http.NotFound(w, r)
	case f.status != 0:
		http.Error(w, "expired", f.status)
	default:
		_, _ = w.Write(f.data)
	}
}

// store stores a file and returns its path with a query, as the network does.
func (h *MediaHost) store(name string, data []byte) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[filePath+name] = &file{data: data}
	return filePath + name + "?ccb=1"
}

// nextFault returns the status with which the next request fails; 0: it does not.
func (h *MediaHost) nextFault() (status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.fail) > 0 {
		status, h.fail = h.fail[0], h.fail[1:]
	}
	return status
}

// heal drops the failures that are left.
func (h *MediaHost) heal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = nil
}

// Fail answers the next uploads and downloads with HTTP statuses.
func (h *MediaHost) Fail(statuses ...int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail = append(h.fail, statuses...)
}

// Expire makes downloads of a file answer with a status, as the network answers
// with 404 or 410 for old files. A phone that has the file can upload it again.
func (h *MediaHost) Expire(directPath string, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.files[barePath(directPath)]; f != nil {
		f.status = status
	}
}

// file returns the file at a path, or nil.
func (h *MediaHost) file(directPath string) *file {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files[barePath(directPath)]
}

// barePath returns a path without its query.
func barePath(directPath string) string {
	bare, _, _ := strings.Cut(directPath, "?")
	return bare
}

// Upload encrypts a file and stores it on the media host. It returns what a
// message needs to carry the file, as whatsmeow's own Upload does.
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
	direct := p.s.media.store(base64.RawURLEncoding.EncodeToString(sum[:]), sealed)
	return whatsmeow.UploadResponse{
		URL: "https://" + mediaHost + direct, DirectPath: direct, MediaKey: key,
		FileEncSHA256: sum[:], FileSHA256: plainSum[:], FileLength: uint64(len(data)),
	}, nil
}

// Download returns the file of a message after checking it against the
// message's checksums.
func (p *Phone) Download(m whatsmeow.DownloadableMessage) ([]byte, error) {
	f := p.s.media.file(m.GetDirectPath())
	if f == nil || f.status != 0 {
		return nil, errors.New("webtest: the file does not exist")
	}
	k, err := mediaKeys(m.GetMediaKey(), whatsmeow.GetMediaType(m))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(f.data)
	split := len(f.data) - macSize
	if split <= 0 || !hmac.Equal(sum[:], m.GetFileEncSHA256()) || !hmac.Equal(f.data[split:], k.sum(f.data[:split])) {
		return nil, errors.New("webtest: the encrypted file does not match the message")
	}
	data, err := cbcutil.Decrypt(k.cipher, k.iv, append([]byte(nil), f.data[:split]...))
	if err != nil {
		return nil, fmt.Errorf("webtest: decrypting a file: %w", err)
	}
	if plain := sha256.Sum256(data); !hmac.Equal(plain[:], m.GetFileSHA256()) {
		return nil, errors.New("webtest: the file does not match the message")
	}
	return data, nil
}

// macSize is how many bytes of its authentication code follow a file.
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

// mediaGone is the network's code for a file that the phone does not have.
const mediaGone = 2

// answerMediaRetry uploads a file again at the request of a linked device, and
// sends the new path, or that the phone does not have the file.
func (dr *deviceRequests) answerMediaRetry(n *node) {
	id := str(n, "id")
	if !has(n, "rmr") {
		return // a request for history has no answer
	}
	rmr := n.GetChildByTag("rmr")
	answer := node{
		Tag:   "notification",
		Attrs: attrs{"from": dr.p.jid, "type": "mediaretry", "id": id, "t": time.Now().Unix()},
	}
	sealed, err := dr.uploadAgain(id, n)
	if err != nil {
		answer.Content = []node{rmr, {Tag: "error", Attrs: attrs{"code": mediaGone}}}
	} else {
		answer.Content = []node{rmr, *sealed}
	}
	dr.p.s.deliveries(func(b *batch) {
		if d := dr.p.s.device(jid(n, "from")); d != nil {
			b.deliver(d, answer)
		}
	})
}

// uploadAgain returns the encrypted answer to the request in n.
func (dr *deviceRequests) uploadAgain(id string, n *node) (*node, error) {
	m := dr.fileMessage(id)
	if m == nil {
		return nil, errors.New("the phone has no file for the message")
	}
	key, err := hkdf.Key(sha256.New, m.GetMediaKey(), nil, "WhatsApp Media Retry Notification", 32)
	if err != nil {
		return nil, err
	}
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	iv := bytesOf(n, "encrypt", "enc_iv")
	if len(iv) != gcm.NonceSize() {
		return nil, errors.New("the request is incomplete")
	}
	if _, err := gcm.Open(nil, iv, bytesOf(n, "encrypt", "enc_p"), []byte(id)); err != nil {
		return nil, fmt.Errorf("opening the request: %w", err)
	}
	old := dr.p.s.media.file(m.GetDirectPath())
	if old == nil {
		return nil, errors.New("the file does not exist")
	}
	where := dr.p.s.media.store("again-"+dr.p.s.newID(), old.data)
	plain, err := proto.Marshal(&waMmsRetry.MediaRetryNotification{
		StanzaID: &id, DirectPath: &where, Result: waMmsRetry.MediaRetryNotification_SUCCESS.Enum(),
	})
	if err != nil {
		return nil, err
	}
	own := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(own) // never fails
	return &node{Tag: "encrypt", Content: []node{
		{Tag: "enc_p", Content: gcm.Seal(nil, own, plain, []byte(id))}, {Tag: "enc_iv", Content: own},
	}}, nil
}

// fileMessage returns the file of a message that the phone has, or nil.
func (dr *deviceRequests) fileMessage(id string) whatsmeow.DownloadableMessage {
	dr.p.s.mu.Lock()
	defer dr.p.s.mu.Unlock()
	if o := dr.p.outbox.sent[id]; o != nil {
		return fileOf(o.Message)
	}
	for _, m := range dr.p.inbox.messages {
		if m.ID == id && m.Content != nil {
			return fileOf(m.Content)
		}
	}
	return nil
}

// fileOf returns the file that a message carries, or nil.
func fileOf(m *waE2E.Message) whatsmeow.DownloadableMessage {
	switch {
	case m.GetImageMessage() != nil:
		return m.GetImageMessage()
	case m.GetVideoMessage() != nil:
		return m.GetVideoMessage()
	case m.GetAudioMessage() != nil:
		return m.GetAudioMessage()
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage()
	case m.GetStickerMessage() != nil:
		return m.GetStickerMessage()
	}
	return nil
}
