package links_test

import (
	"strings"
	"testing"

	"github.com/trunklinehq/trunkline/internal/links"
)

// BenchmarkClean cleans 64 KiB of the dearest texts.
func BenchmarkClean(b *testing.B) {
	rule := links.New(links.Options{Hosts: []string{"shop.example"}})
	for name, part := range map[string]string{"words": "some words, ", "links": "a.com/x ", "dots": "a.", "tops": "ab.", "labels": "a.com.", "marks": "[x](a.com)", "at": "a@b.com@", "nested": "[[x](a)"} {
		text := strings.Repeat(part, 64<<10/len(part))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = rule.Clean(text)
			}
		})
	}
}
