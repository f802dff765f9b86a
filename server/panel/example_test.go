package panel_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/trunklinehq/trunkline/server/panel"
)

// The panel is a handler. Addresses below it that are no files are its page.
func Example() {
	h := panel.Handler("/panel/")
	for _, path := range []string{"/panel/", "/panel/inbox/1", "/panel/assets/none.js"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 text/html; charset=utf-8
	// 200 text/html; charset=utf-8
	// 404 text/plain; charset=utf-8
}
