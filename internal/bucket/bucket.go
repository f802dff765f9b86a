// Package bucket opens buckets of Amazon S3, or of a compatible service, by their
// address.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Keys sign requests. Both empty: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the
// environment, else ~/.aws/credentials, else, at Amazon, the machine's own role.
type Keys struct {
	Access, Secret string
}

// Bucket is a bucket, or what is in it under a prefix.
type Bucket struct {
	Client *minio.Core
	Name   string
	Prefix string // of the key of each object
}

// retries is the maximum number of attempts of a request.
const retries = 3

// Open returns the bucket of rawURL, after a request to check that it exists:
//
//	s3://bucket?endpoint=https://s3.example.com&region=eu-west-1&prefix=media/
//
// A request that transfers nothing for a minute fails, and is tried again twice.
//
// endpoint is a host or an address; without it the bucket is Amazon's. region
// defaults to us-east-1, prefix to "".
func Open(ctx context.Context, rawURL string, keys Keys) (*Bucket, error) {
	return open(ctx, rawURL, keys, nil)
}

func open(ctx context.Context, rawURL string, keys Keys, dial dialFunc) (*Bucket, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the address %w", err)
	}
	connect, err := transport(t.secure, dial)
	if err != nil {
		return nil, err
	}
	client, err := minio.NewCore(t.host, &minio.Options{
		Creds: signer(keys, t), Secure: t.secure, Region: t.region, MaxRetries: retries, Transport: connect,
	})
	if err != nil {
		return nil, fmt.Errorf("the address is malformed: %w", err)
	}
	ok, err := client.BucketExists(ctx, t.bucket)
	if err != nil {
		return nil, fmt.Errorf("looking for bucket %s: %w", t.bucket, err)
	}
	if !ok {
		return nil, fmt.Errorf("there is no bucket %s", t.bucket)
	}
	return &Bucket{Client: client, Name: t.bucket, Prefix: t.prefix}, nil
}

// IsMissing reports whether a request failed because its object does not exist.
func IsMissing(err error) bool {
	answer := minio.ToErrorResponse(err)
	return answer.Code == minio.NoSuchKey || answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket
}

// IsBusy reports whether a request failed because the service cannot answer now.
func IsBusy(err error) bool {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && (answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests)
}

// signer returns the credentials that sign requests.
func signer(keys Keys, t target) *credentials.Credentials {
	if keys.Access != "" {
		return credentials.NewStaticV4(keys.Access, keys.Secret, "")
	}
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if t.amazon {
		chain = append(chain, &credentials.IAM{})
	}
	return credentials.NewChainCredentials(chain)
}

// target is a parsed address.
type target struct {
	bucket, host, region, prefix string
	secure, amazon               bool
}

func parse(rawURL string) (target, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil || u.Scheme != "s3":
		return target{}, errors.New("must be s3://BUCKET?endpoint=…&region=…&prefix=…")
	case u.Host == "":
		return target{}, errors.New("names no bucket")
	case u.User != nil:
		return target{}, errors.New("must not hold keys: they come from the environment")
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return target{}, errors.New("has a path: use ?prefix=")
	}
	t := target{bucket: u.Host, host: "s3.amazonaws.com", region: "us-east-1", secure: true, amazon: true}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, errors.New("has a malformed query")
	}
	for name, values := range query {
		switch v := values[0]; name {
		case "endpoint":
			t.amazon = false
			if t.host, t.secure, err = endpoint(v); err != nil {
				return target{}, err
			}
		case "region":
			t.region = v
		case "prefix":
			t.prefix = strings.TrimLeft(v, "/")
		default:
			return target{}, fmt.Errorf("has a parameter that is unknown: %.40q", name)
		}
	}
	return t, nil
}

// endpoint parses "host", "host:port" or an http or https address without a path.
func endpoint(v string) (host string, secure bool, err error) {
	if !strings.Contains(v, "://") {
		v = "https://" + v
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return "", false, errors.New("has an endpoint that is neither a host nor an http or https address")
	}
	return u.Host, u.Scheme == "https", nil
}
