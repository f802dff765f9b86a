package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certCheck is how often the files are looked at, at most.
const certCheck = time.Second

// Certificate is a TLS certificate and key in two files that may be replaced
// while they are in use. It is safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	cert    *tls.Certificate
	stamps  [2]stamp
	checked time.Time
}

// stamp changes when a file does.
type stamp struct {
	modified time.Time
	size     int64
}

// LoadCertificate reads a certificate chain and its key in PEM. A nil logger
// is slog.Default().
func LoadCertificate(certFile, keyFile string, logger *slog.Logger) (*Certificate, error) {
	logger = cmp.Or(logger, slog.Default())
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: logger}
	stamps, err := c.stat()
	if err != nil {
		return nil, err
	}
	if err := c.load(stamps); err != nil {
		return nil, err
	}
	c.checked = time.Now()
	return c, nil
}

// Get returns the certificate that the files hold now, for a [tls.Config]. One
// that cannot be read leaves the last one in use.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= certCheck {
		c.checked = now
		if err := c.reload(); err != nil {
			c.log.WarnContext(context.Background(), "reloading the TLS certificate", slog.Any("error", err))
		}
	}
	return c.cert, nil
}

func (c *Certificate) reload() error {
	stamps, err := c.stat()
	if err != nil || stamps == c.stamps {
		return err
	}
	if err := c.load(stamps); err != nil {
		return err
	}
	c.log.InfoContext(context.Background(), "TLS certificate reloaded")
	return nil
}

func (c *Certificate) load(stamps [2]stamp) error {
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("reading the TLS certificate: %w", err)
	}
	c.cert, c.stamps = &cert, stamps
	return nil
}

func (c *Certificate) stat() (stamps [2]stamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamps, fmt.Errorf("reading the TLS certificate: %w", err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}
