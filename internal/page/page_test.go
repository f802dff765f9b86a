package page_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/page"
)

func TestPages(t *testing.T) {
	t.Parallel()
	rows := []int64{3, 40, 500, 6000, 70000}
	var seen []int64
	cursor, pages := "", 0
	for {
		last, size, err := page.List{Limit: 2, Cursor: cursor}.Parse()
		require.NoError(t, err)
		var found []int64
		for _, r := range rows {
			if r > last && len(found) <= size {
				found = append(found, r)
			}
		}
		same := func(r int64) int64 { return r }
		p := page.Cut(found, size, same, same)
		seen, pages = append(seen, p.Items...), pages+1
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	require.Equal(t, rows, seen)
	require.Equal(t, 3, pages)

	p := page.Cut(nil, 2, func(r int64) int64 { return r }, func(r int64) int64 { return r })
	require.Equal(t, []int64{}, p.Items)
	require.Empty(t, p.Next)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	_, size, err := page.List{Limit: 0, Cursor: ""}.Parse()
	require.NoError(t, err)
	require.Equal(t, 50, size)
	_, _, err = page.List{Limit: -1, Cursor: ""}.Parse()
	require.EqualError(t, err, "limit must be at least 1")
	for _, limit := range []int{200, 201, math.MaxInt} {
		_, size, err = page.List{Limit: limit, Cursor: ""}.Parse()
		require.NoError(t, err)
		require.Equal(t, 200, size)
	}
	for _, cursor := range []string{"-1", "x y", "00", "A", "zzzzzzzzzzzzzzzzz"} {
		_, _, err = page.List{Limit: 0, Cursor: cursor}.Parse()
		require.EqualError(t, err, "cursor is not a cursor of this list", cursor)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for want, sizes := range map[int][]int64{
		1: {9 * mib, 1, 1},
		2: {4 * mib, 4 * mib, 1},
		3: {1, 2, 3},
	} {
		require.Equal(t, want, page.Fit(sizes))
	}
	require.Equal(t, 1, page.Fit(nil))
}
