package media_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// A file is read from a stream, inspected, and served by its link.
func Example() {
	dir, err := os.MkdirTemp("", "media")
	check(err)
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	folder, err := media.OpenFolder(dir)
	check(err)
	defer folder.Close() //nolint:errcheck // the program ends
	lib, err := media.New(folder, &media.Options{Secrets: []string{"a secret of at least 32 characters"}})
	check(err)

	upload := strings.NewReader("%PDF-1.4\n1 0 obj <</Type /Pages /Count 3 /Kids []>> endobj\n")
	f, err := lib.Save(context.Background(), upload, media.Upload{Max: 1 << 20, Type: "application/pdf"})
	check(err)
	fmt.Println(f.Type, f.Size, "bytes,", f.Pages, "pages")

	server := httptest.NewServer(lib)
	defer server.Close()
	answer, err := http.Get(server.URL + "/" + lib.Link(f.ID, "Quote 7.pdf"))
	check(err)
	body, err := io.ReadAll(answer.Body)
	check(err)
	check(answer.Body.Close())
	fmt.Println(answer.Header.Get("Content-Disposition"))
	fmt.Println(len(body), "bytes")
	// Output:
	// application/pdf 59 bytes, 3 pages
	// attachment; filename="Quote 7.pdf"
	// 59 bytes
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
