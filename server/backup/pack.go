package backup

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
)

// packer writes the parts of an archive one after the other.
type packer struct{ z *zip.Writer }

func newPacker(w io.Writer) *packer { return &packer{zip.NewWriter(w)} }

// part is a writer for one file of the archive that computes its digest.
type part struct {
	io.Writer
	hash hash.Hash
}

func (p *packer) entry(name string) (*part, error)  { return p.part(name, zip.Deflate) }
func (p *packer) stored(name string) (*part, error) { return p.part(name, zip.Store) } // media are compressed already

func (p *packer) part(name string, method uint16) (*part, error) {
	w, err := p.z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	return &part{io.MultiWriter(w, h), h}, nil
}

// digest returns a part that only computes the digest.
func digest() *part {
	h := sha256.New()
	return &part{h, h}
}

func (p *packer) text(name string, b []byte) error {
	e, err := p.stored(name)
	if err != nil {
		return err
	}
	_, err = e.Write(b)
	return err
}

func (p *packer) json(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	e, err := p.entry(name)
	if err != nil {
		return err
	}
	_, err = e.Write(append(b, '\n'))
	return err
}

func (p *packer) close() error { return p.z.Close() }

// line writes a value as JSON.
func (e *part) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if b.Len() > maxLine {
		return fmt.Errorf("a row has %d MiB, more than a backup can hold", b.Len()>>20)
	}
	_, err := e.Write(b.Bytes())
	return err
}

func (e *part) sum() string { return hex.EncodeToString(e.hash.Sum(nil)) }
