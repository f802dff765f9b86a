package render

import (
	"strconv"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// IsObject reports whether valid JSON is an object.
func IsObject(body []byte) bool { return jsonscan.Kind(body) == '{' }

// Indexed is the path of an element of a list.
func Indexed(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
