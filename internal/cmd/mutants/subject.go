package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// subject is code that is mutated, with the tests that must notice. Packages are
// folders below that of the module.
type subject struct {
	name     string
	packages []string
	suites   []suite // a mutant that survives one meets the next
}

// suite is tests of one package.
type suite struct {
	folder string
	tests  string // a regular expression; "": all
}

// subjects are what Trunkline's promises rest on.
var subjects = []subject{
	{"queue", []string{"internal/queue"}, []suite{{"internal/queue", ""}}},
	{"webhook", []string{"webhook", "webhook/internal/delivery"}, []suite{{"webhook", ""}}},
	{"ingest", []string{"messaging/internal/ingest"}, []suite{{"messaging", ""}}},
	{"flow", []string{"aiflow/flow"}, []suite{{"aiflow/flow", ""}}},
	{"expression", []string{"aiflow/flow/expression"}, []suite{{"aiflow/flow/expression", ""}}},
	{"auth", []string{"server/auth"}, []suite{
		{"server/auth", ""},
		{"server", "^Test(Passkeys|OIDC|SecondFactor|KnownBrowser|UsersOf|OwnUser|Session|Rights|SignUp|Invitation|Account)"},
	}},
}

// sample returns n points, or all if n is 0. The hash of its description says
// whether a point is among them: a change of other code does not choose others.
func sample(all []*point, n int, seed uint64) []*point {
	if n == 0 || n >= len(all) {
		return all
	}
	hashes := map[*point]uint64{}
	same := map[string]int{}
	for _, p := range all {
		k := p.key()
		same[k]++
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, seed, k, same[k])
		hashes[p] = mix(h.Sum64())
	}
	chosen := slices.SortedFunc(slices.Values(all), func(a, b *point) int { return cmp.Compare(hashes[a], hashes[b]) })[:n]
	slices.SortFunc(chosen, func(a, b *point) int { return cmp.Compare(a.index, b.index) })
	return chosen
}

// mix spreads a hash: that of FNV keeps texts with the same end close together.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
