package archtest_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requirements are those of levels 1 and 2 in the list, version 5.0.0, by their
// section: how many each has from the first on, without gaps.
var requirements = strings.Fields(`
	1.1:2 1.2:9 1.3:11 1.4:3 1.5:2  2.1:3 2.2:3 2.3:4 2.4:1  3.2:2 3.3:4 3.4:6 3.5:5 3.7:2
	4.1:3 4.2:1 4.3:2 4.4:4  5.1:1 5.2:3 5.3:2 5.4:3  6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4
	7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2  8.1:2 8.2:3 8.3:1 8.4:1  9.1:3 9.2:4
	10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3  11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1
	12.1:3 12.2:2 12.3:4  13.1:1 13.2:5 13.3:2 13.4:5  14.1:2 14.2:4 14.3:3  15.1:3 15.2:3 15.3:7
	16.1:1 16.2:5 16.3:4 16.4:3 16.5:3  17.1:1 17.2:4 17.3:2`)

var (
	requirement = regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| (.*?) \| (.*?) \|$`)
	tested      = regexp.MustCompile("^yes: `(?:Test|Fuzz)[A-Z]\\w*`[:;,]?( |$)")
	notKept     = regexp.MustCompile(`^(?:no|n\.a\.): \S.*`)
)

// TestASVS holds the list of OWASP: every requirement once and in order, and of
// each line either a test, which [TestTestsThatAreNamed] looks for, or a reason.
func TestASVS(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, section := range requirements {
		name, count, ok := strings.Cut(section, ":")
		require.True(t, ok, section)
		for i := range atoi(t, count) {
			want = append(want, name+"."+strconv.Itoa(i+1))
		}
	}
	require.Len(t, want, 253)
	for _, m := range requirement.FindAllStringSubmatch(documents(t)["docs/asvs.md"], -1) {
		got = append(got, m[1])
		assert.NotEmpty(t, m[2], m[1])
		assert.Truef(t, tested.MatchString(m[3]) || notKept.MatchString(m[3]), "%s: %s", m[1], m[3])
	}
	require.Equal(t, want, got)
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err, s)
	return n
}
