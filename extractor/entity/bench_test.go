package entity_test

import (
	"strings"
	"testing"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

// message is of the usual length.
const message = "Hi, I'd like to order 3 kg of apples for $12.50, please deliver it next friday at 5pm to Main St 5, my number is +1 650-253-0000, thanks!"

// BenchmarkFind looks for everything in a message.
func BenchmarkFind(b *testing.B) {
	o := &entity.Options{Locale: "en-US", Now: now}
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		entity.Find(message, o)
	}
}

// hostile are texts that make the most work.
var hostile = map[string]string{
	"a":        strings.Repeat("a", entity.MaxText),
	"figures":  strings.Repeat("1", entity.MaxText),
	"spaced":   strings.Repeat("111 ", entity.MaxText/4),
	"dots":     strings.Repeat("1.", entity.MaxText/2),
	"phones":   strings.Repeat("650-253-0000 ", entity.MaxText/13),
	"at":       strings.Repeat("a@", entity.MaxText/2),
	"words":    strings.Repeat("one hundred and ", entity.MaxText/16),
	"days":     strings.Repeat("the first friday of the ", entity.MaxText/24),
	"spans":    strings.Repeat("3 days and ", entity.MaxText/11),
	"urls":     strings.Repeat("http://a.com", entity.MaxText/12),
	"brackets": strings.Repeat("http://a.com/"+strings.Repeat("))))", 500)+" ", 31),
	"money":    strings.Repeat("$ $ 5 and ", entity.MaxText/10),
	"letters":  strings.Repeat("DE44 1234 ABCD ", entity.MaxText/15),
	"yes":      strings.Repeat("yes no ", entity.MaxText/7),
	"marks":    "e" + strings.Repeat("\u0301", entity.MaxText/2-1),
}

// BenchmarkHostile looks for everything in 64 KiB of each.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile {
		b.Run(name, func(b *testing.B) {
			o := &entity.Options{Locale: "en-US", Now: now}
			for b.Loop() {
				entity.Find(text, o)
			}
		})
	}
}
