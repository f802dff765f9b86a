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
		last, size, err := page.Parse(2, cursor)
		require.NoError(t, err)
		var found []int64
		for _, r := range rows {
			if r > last && len(found) <= size {
				found = append(found, r)
			}
		}
		same := func(r int64) int64 { return r }
		items, next := page.Cut(found, size, same, same)
		seen, pages = append(seen, items...), pages+1
		if cursor = next; cursor == "" {
			break
		}
	}
	require.Equal(t, rows, seen)
	require.Equal(t, 3, pages)

	items, next := page.Cut(nil, 2, func(r int64) int64 { return r }, func(r int64) int64 { return r })
	require.Equal(t, []int64{}, items)
	require.Empty(t, next)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	_, size, err := page.Parse(0, "")
	require.NoError(t, err)
	require.Equal(t, 50, size)
	_, _, err = page.Parse(-1, "")
	require.EqualError(t, err, "limit must be at least 1")
	for _, limit := range []int{200, 201, math.MaxInt} {
		_, size, err = page.Parse(limit, "")
		require.NoError(t, err)
		require.Equal(t, 200, size)
	}
	for _, cursor := range []string{"-1", "x y", "00", "A", "zzzzzzzzzzzzzzzzz"} {
		_, _, err = page.Parse(0, cursor)
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
