package panel_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/trunklinehq/trunkline/server/panel"
)

// The page needs nothing but its handler.
func Example() {
	page, err := panel.Handler("1.0.0", "../swagger")
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/panel/", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
