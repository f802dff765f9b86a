package entity_test

import (
	"strings"
	"testing"

	"github.com/trunklinehq/trunkline/extractor/entity"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// message is of the usual length.
const message = "Hi, I'd like to order 3 kg of apples for $12.50, please deliver it next friday at 5pm to Main St 5, my number is +1 650-253-0000, thanks!"

// BenchmarkFind looks for everything in a message.
func BenchmarkFind(b *testing.B) {
	o := &entity.Options{Locale: "en-US", Now: now}
	entity.Find(message, o) // the tables are read
	looks(b, message, o)
}

// looks measures CPU time, since other programs may keep the machine busy.
func looks(b *testing.B, text string, o *entity.Options) {
	before := testkit.OwnCPUTime(b)
	for b.Loop() {
		entity.Find(text, o)
	}
	b.ReportMetric(float64((testkit.OwnCPUTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// size is the length of a hostile text, of which only a part is read.
const size = 64 << 10

// hostile are texts that make the most work.
var hostile = map[string]string{
	"a":        strings.Repeat("a", size),
	"figures":  strings.Repeat("1", size),
	"spaced":   strings.Repeat("111 ", size/4),
	"dots":     strings.Repeat("1.", size/2),
	"phones":   strings.Repeat("650-253-0000 ", size/13),
	"at":       strings.Repeat("a@", size/2),
	"words":    strings.Repeat("one hundred and ", size/16),
	"days":     strings.Repeat("the first friday of the ", size/24),
	"spans":    strings.Repeat("3 days and ", size/11),
	"urls":     strings.Repeat("http://a.com", size/12),
	"brackets": strings.Repeat("http://a.com/"+strings.Repeat("))))", 500)+" ", 31),
	"money":    strings.Repeat("$ $ 5 and ", size/10),
	"letters":  strings.Repeat("DE44 1234 ABCD ", size/15),
	"yes":      strings.Repeat("yes no ", size/7),
	"marks":    "e" + strings.Repeat("\u0301", size/2-1),
}

// TestHostile checks that hostile texts yield only values that are in them.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(t, text, entity.Find(text, &entity.Options{Locale: "en-US", Now: now}))
		})
	}
}

// BenchmarkHostile looks for everything in 64 KiB of each.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile {
		b.Run(name, func(b *testing.B) {
			o := &entity.Options{Locale: "en-US", Now: now}
			looks(b, text, o)
		})
	}
}
