package cloud_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// callbacks are the two that make nearly all traffic, and a full batch.
func callbacks() map[string][]byte {
	text := `{"from":"16505551234","id":"wamid.QmVuY2htYXJrTWVzc2FnZU51bWJlck9uZUluQmFzZTY0AA==","timestamp":"1760000000","type":"text","text":{"body":"Are you open on Sunday morning?"}}`
	status := `{"id":"wamid.QmVuY2htYXJrTWVzc2FnZU51bWJlclR3b0luQmFzZTY0AA==","status":"sent","timestamp":"1760000003","recipient_id":"16505551234","pricing":{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing"}}`
	batch := make([]string, 200)
	for i := range batch {
		batch[i] = strings.Replace(text, "wamid.", "wamid."+strconv.Itoa(i), 1)
	}
	return map[string][]byte{
		"text":      change("messages", contactAna+`"messages":[`+text+`]`),
		"status":    change("messages", `"statuses":[`+status+`]`),
		"200 texts": change("messages", contactAna+`"messages":[`+strings.Join(batch, ",")+`]`),
	}
}

func BenchmarkRoute(b *testing.B) {
	p := cloud.New(nil)
	for name, body := range callbacks() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if parts, err := p.Route(body); err != nil || len(parts) != 1 {
					b.Fatal(parts, err)
				}
			}
		})
	}
}

// BenchmarkRouteFloor is what any reader must pay: one check of the syntax.
func BenchmarkRouteFloor(b *testing.B) {
	for name, body := range callbacks() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !json.Valid(body) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	p := cloud.New(nil)
	for name, body := range callbacks() {
		b.Run(name, func(b *testing.B) {
			parts, err := p.Route(body)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if events, bad := p.Parse(parts[0]); len(events) == 0 || len(bad) != 0 {
					b.Fatal(events, bad)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	p := cloud.New(nil)
	for name, body := range callbacks() {
		b.Run(name, func(b *testing.B) {
			header := map[string][]string{graph.SignatureHeader: {graph.Sign("secret", body)}}
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !p.Verify("secret", header, body) {
					b.Fatal("not verified")
				}
			}
		})
	}
}
