package values

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// IsoDuration is ISO 8601 without years and months, which have no fixed
// length.
var IsoDuration = lazy(`^P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$`)

var errDuration = errors.New("is not a duration such as PT10S, PT2H30M or P1D")

// ParseDuration reads a duration of ISO 8601: weeks, days (of 24 hours),
// hours, minutes and seconds.
func ParseDuration(text string) (time.Duration, error) {
	m := IsoDuration().FindStringSubmatch(text)
	if m == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return 0, errDuration
	}
	units := []float64{7 * 86400, 86400, 3600, 60, 1}
	seconds := 0.0
	for i, unit := range units {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			return 0, errDuration
		}
		seconds += n * unit
	}
	const limit = 1000 * 365 * 86400 / 4 // below what a time.Duration holds
	if seconds > limit {
		return 0, errDuration
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

// FormatDuration writes seconds as a person would: PT90S, PT2H, P3D.
func FormatDuration(seconds float64) string {
	for _, u := range []struct {
		seconds       float64
		before, after string
	}{{86400, "P", "D"}, {3600, "PT", "H"}, {60, "PT", "M"}} {
		if n := seconds / u.seconds; seconds >= u.seconds && n == math.Trunc(n) {
			return u.before + strconv.FormatFloat(n, 'f', -1, 64) + u.after
		}
	}
	return "PT" + strconv.FormatFloat(seconds, 'f', -1, 64) + "S"
}

var (
	byteSize = lazy(`^(\d{1,12})(B|KiB|MiB)?$`)
	errBytes = errors.New("is not a size")
)

// ParseBytes reads a size, as in 10KiB.
func ParseBytes(text string) (int64, error) {
	m := byteSize().FindStringSubmatch(text)
	if m == nil {
		return 0, errBytes
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	switch m[2] {
	case "KiB":
		n <<= 10
	case "MiB":
		n <<= 20
	}
	return n, err
}
