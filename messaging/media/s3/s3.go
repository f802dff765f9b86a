// Package s3 is a [media.Store] in a bucket of Amazon S3 or of a compatible
// service, for nodes that share no file system.
//
// The key needs the permissions GetObject, PutObject and DeleteObject on the
// objects and ListBucket on the bucket: without the latter S3 does not report that
// a file is missing.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/trunklinehq/trunkline/messaging/media"
)

// Options configures a [Bucket].
type Options struct {
	// AccessKey and SecretKey sign requests. "": AWS_ACCESS_KEY_ID and
	// AWS_SECRET_ACCESS_KEY of the environment, else ~/.aws/credentials, else, at
	// Amazon, the machine's own role.
	AccessKey, SecretKey string
}

// Bucket is a [media.Store]. Each file is one object, written by one request.
type Bucket struct {
	client *minio.Core
	name   string
	prefix string
}

var _ media.Store = (*Bucket)(nil)

// retries is the maximum number of attempts of a request.
const retries = 3

// Open returns the bucket of rawURL, after a request to check that it exists:
//
//	s3://bucket?endpoint=https://s3.example.com&region=eu-west-1&prefix=media/
//
// endpoint is a host or an address; without it the bucket is Amazon's. region
// defaults to us-east-1, prefix to "".
func Open(ctx context.Context, rawURL string, opts *Options) (*Bucket, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("s3: the address %w", err)
	}
	if opts == nil {
		opts = &Options{}
	}
	client, err := minio.NewCore(t.host, &minio.Options{
		Creds: keys(opts, t), Secure: t.secure, Region: t.region, MaxRetries: retries,
	})
	if err != nil {
		return nil, fmt.Errorf("s3: the address is malformed: %w", err)
	}
	ok, err := client.BucketExists(ctx, t.bucket)
	if err != nil {
		return nil, fmt.Errorf("s3: looking for bucket %s: %w", t.bucket, err)
	}
	if !ok {
		return nil, fmt.Errorf("s3: there is no bucket %s", t.bucket)
	}
	return &Bucket{client: client, name: t.bucket, prefix: t.prefix}, nil
}

// keys returns the credentials that sign requests.
func keys(opts *Options, t target) *credentials.Credentials {
	if opts.AccessKey != "" {
		return credentials.NewStaticV4(opts.AccessKey, opts.SecretKey, "")
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

// Put implements [media.Store].
func (b *Bucket) Put(ctx context.Context, id string, r io.Reader, size int64) error {
	if err := media.CheckID(id); err != nil {
		return err
	}
	// One request leaves no parts behind if the process is killed.
	_, err := b.client.Client.PutObject(ctx, b.name, b.prefix+id, r, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	if err != nil {
		return fmt.Errorf("storing file %s: %w", id, err)
	}
	return nil
}

// Size implements [media.Store].
func (b *Bucket) Size(ctx context.Context, id string) (int64, error) {
	if err := media.CheckID(id); err != nil {
		return 0, err
	}
	info, err := b.client.StatObject(ctx, b.name, b.prefix+id, minio.StatObjectOptions{})
	if err != nil {
		return 0, lookup(id, err)
	}
	return info.Size, nil
}

// Delete implements [media.Store].
func (b *Bucket) Delete(ctx context.Context, id string) error {
	if err := media.CheckID(id); err != nil {
		return err
	}
	err := b.client.RemoveObject(ctx, b.name, b.prefix+id, minio.RemoveObjectOptions{})
	if err != nil && !missing(err) {
		return fmt.Errorf("deleting file %s: %w", id, err)
	}
	return nil
}

func missing(err error) bool {
	answer := minio.ToErrorResponse(err)
	return answer.Code == minio.NoSuchKey || answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket
}

func lookup(id string, err error) error {
	if missing(err) {
		return media.ErrNotFound
	}
	return fmt.Errorf("opening file %s: %w", id, err)
}
