package media

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"io"
	"strings"
	"unicode/utf8"
)

// Documents of Office (OOXML) and OpenDocument are ZIP archives. Their title, and
// often a picture of the first page, are separate files in the archive.

const (
	officeEntries   = 10_000  // files in an archive
	officeDirectory = 4 << 20 // bytes of the directory
	officeMeta      = 1 << 20
	officePicture   = 4 << 20
	zipEnd          = 22 // size of the end record, without its comment
	zipComment      = 1<<16 - 1

	maxTitle = 300 // characters
)

func isOffice(bare string) bool {
	return strings.HasPrefix(bare, "application/vnd.openxmlformats-officedocument.") ||
		strings.HasPrefix(bare, "application/vnd.oasis.opendocument.") || strings.HasPrefix(bare, "application/vnd.ms-") && strings.HasSuffix(bare, ".macroenabled.12")
}

func inspectOffice(src *source, info *Info) {
	if !fewEntries(src) {
		return
	}
	z, err := zip.NewReader(src, src.size)
	if err != nil {
		return
	}
	for _, f := range z.File {
		switch f.Name {
		case "docProps/core.xml", "meta.xml":
			if raw := unzipped(f, officeMeta); raw != nil {
				info.Title = dcTitle(raw)
			}
		case "docProps/thumbnail.jpeg", "docProps/thumbnail.jpg", "docProps/thumbnail.png", "Thumbnails/thumbnail.png":
			if raw := unzipped(f, officePicture); raw != nil {
				info.JPEGThumbnail = smallPicture(src.ctx, raw)
			}
		}
	}
}

// fewEntries reports whether the directory of an archive is small enough to read:
// package zip reads all of it.
func fewEntries(src *source) bool {
	n := min(src.size, zipEnd+zipComment)
	tail := src.at(src.size-n, int(n))
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || len(tail)-at < zipEnd {
		return false
	}
	end := tail[at:]
	return binary.LittleEndian.Uint16(end[10:]) <= officeEntries && binary.LittleEndian.Uint32(end[12:]) <= officeDirectory
}

// unzipped returns the content of a file in an archive; nil if it exceeds limit.
func unzipped(f *zip.File, limit int64) []byte {
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil || int64(len(raw)) > limit {
		return nil
	}
	return raw
}

const dublinCore = "http://purl.org/dc/elements/1.1/"

// dcTitle returns the first Dublin Core title in a document. Package xml expands no
// entities.
func dcTitle(raw []byte) string {
	d := xml.NewDecoder(bytes.NewReader(raw))
	inside, text := 0, strings.Builder{}
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		switch t := token.(type) {
		case xml.StartElement:
			if inside > 0 || t.Name.Local == "title" && t.Name.Space == dublinCore {
				inside++
			}
		case xml.CharData:
			if inside > 0 && text.Len() < 4*maxTitle {
				text.Write(t)
			}
		case xml.EndElement:
			if inside == 0 {
				continue
			}
			if inside--; inside == 0 {
				return plainTitle(text.String())
			}
		}
	}
}

// plainTitle returns a title in one line, without characters that cannot be shown.
func plainTitle(s string) string {
	if !utf8.ValidString(s) {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxTitle {
		s = string(runes[:maxTitle])
	}
	return s
}
