package s3_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                                    "must be s3://BUCKET",
		"/var/media":                          "must be s3://BUCKET",
		"http://bucket":                       "must be s3://BUCKET",
		"s3://":                               "names no bucket",
		"s3://?prefix=a":                      "names no bucket",
		"s3://key:secret@bucket":              "must not hold keys",
		"s3://bucket/path":                    "use ?prefix=",
		"s3://bucket#x":                       "use ?prefix=",
		"s3://bucket?a=%zz":                   "malformed query",
		"s3://bucket?secret=hush":             `parameter that is unknown: "secret"`,
		"s3://bucket?endpoint=ftp://x":        "has an endpoint",
		"s3://bucket?endpoint=https://x/y":    "has an endpoint",
		"s3://bucket?endpoint=https://u:p@x":  "has an endpoint",
		"s3://bucket?endpoint=":               "has an endpoint",
		"s3://bucket\x7f":                     "must be s3://BUCKET",
		"s3://bucket?endpoint=127.0.0.1:1%20": "has an endpoint",
	} {
		_, err := s3.Open(t.Context(), address, nil)
		require.ErrorContains(t, err, "s3: the address", address)
		require.ErrorContains(t, err, want, address)
		require.NotContains(t, strings.ReplaceAll(err.Error(), `"secret"`, ""), "secret", address)
	}
}
