package media

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
)

// The pages of a PDF form a tree. Its root is a dictionary of type Pages without a
// parent, which has the number of pages. It is in the file as text, or in a
// compressed "object stream". If later versions of the document were appended, the
// last root applies. A file whose tree is encrypted or uses an unusual filter has 0
// pages.

const (
	pdfWindow  = 256 << 10
	pdfOverlap = 16 << 10 // the largest dictionary that is found across the edge of a window
	pdfStream  = 4 << 20  // inflated bytes of an object stream
	pdfMatches = 10_000   // in a window or a stream
	maxPages   = 1_000_000
)

var (
	pdfNode   = regexp.MustCompile(`/Type\s*/(Pages|ObjStm)\b`)
	pdfCount  = regexp.MustCompile(`/Count\s+(\d{1,7})\b`)
	pdfParent = regexp.MustCompile(`/Parent\b`)
	pdfData   = regexp.MustCompile(`^\s*stream\r?\n`)
)

func inspectPDF(src *source, info *Info) {
	encrypted := false
	buf := make([]byte, pdfWindow)
	for off := int64(0); off < src.size; off += pdfWindow - pdfOverlap {
		n, err := src.ReadAt(buf, off)
		if n == 0 && err != nil {
			break
		}
		window := buf[:n]
		info.Title = pdfTitle(src, window, info.Title)
		encrypted = encrypted || pdfEncrypted.Match(window)
		pdfNodes(src, window, func(kind byte, dict []byte, end int) {
			if kind == 'P' {
				info.Pages = rootPages(dict, info.Pages)
			} else if data := pdfData.FindIndex(window[end:]); data != nil {
				inspectStream(src, off+int64(end+data[1]), info)
			}
		})
	}
	if encrypted {
		info.Title = "" // it is encrypted
	}
}

// pdfNodes calls visit for the dictionaries of pages ('P') and object streams ('O')
// in text, with the position of their end, until the time is up.
func pdfNodes(src *source, text []byte, visit func(kind byte, dict []byte, end int)) {
	for _, m := range pdfNode.FindAllSubmatchIndex(text, pdfMatches) {
		if src.ctx.Err() != nil {
			return
		}
		if start, end, ok := dictionary(text, m[0], m[1]); ok {
			visit(text[m[2]], text[start:end], end)
		}
	}
}

// rootPages returns the number of pages in a dictionary if it is the root of the
// tree, else before.
func rootPages(dict []byte, before int) int {
	count := pdfCount.FindSubmatch(dict)
	if count == nil || pdfParent.Match(dict) {
		return before
	}
	if n, err := strconv.Atoi(string(count[1])); err == nil && n <= maxPages {
		return n
	}
	return before
}

// inspectStream looks for the root and the title in the object stream whose data
// begin at off.
func inspectStream(src *source, off int64, info *Info) {
	z, err := zlib.NewReader(src.from(off))
	if err != nil {
		return
	}
	text, _ := io.ReadAll(io.LimitReader(z, pdfStream)) // what precedes an error counts
	pdfNodes(src, text, func(kind byte, dict []byte, _ int) {
		if kind == 'P' {
			info.Pages = rootPages(dict, info.Pages)
		}
	})
	info.Title = pdfTitle(src, text, info.Title)
}

// dictionary returns the bounds of the innermost "<< … >>" around text[from:to].
func dictionary(text []byte, from, to int) (start, end int, ok bool) {
	depth := 0
	for start = from - 2; ; start-- {
		if start < 0 || from-start > pdfOverlap {
			return 0, 0, false
		}
		if pair := text[start : start+2]; bytes.Equal(pair, []byte(">>")) {
			depth++
			start--
		} else if bytes.Equal(pair, []byte("<<")) {
			if depth == 0 {
				break
			}
			depth--
			start--
		}
	}
	depth = 0
	for end = to; end+2 <= len(text) && end-to <= pdfOverlap; end++ {
		if pair := text[end : end+2]; bytes.Equal(pair, []byte("<<")) {
			depth++
			end++
		} else if bytes.Equal(pair, []byte(">>")) {
			if depth == 0 {
				return start, end + 2, true
			}
			depth--
			end++
		}
	}
	return 0, 0, false
}
