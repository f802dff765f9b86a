package graph

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// ForTest shows the table of codes: "code", "code/sub-code" or "from–to" with
// what an error of it becomes, and the advice.
func ForTest() (rows [][3]string) {
	name := func(m meaning) string {
		what := fmt.Sprintf("%T", (&Error{Code: -2, HTTPStatus: 500}).as(m))[len("*provider."):]
		if m.after > 0 {
			what += ", after " + m.after.Truncate(time.Minute).String()
		}
		return what
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		rows = append(rows, [3]string{fmt.Sprint(code), name(codes[code]), codes[code].advice})
		for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b pair) int { return a.subcode - b.subcode }) {
			if p.code == code {
				rows = append(rows, [3]string{fmt.Sprintf("%d/%d", p.code, p.subcode), name(pairs[p]), pairs[p].advice})
			}
		}
	}
	for _, r := range ranges {
		rows = append(rows, [3]string{fmt.Sprintf("other %d–%d", r.from, r.to), name(r.meaning), r.advice})
	}
	return rows
}
