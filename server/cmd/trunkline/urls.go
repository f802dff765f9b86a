package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/mail"
	"github.com/trunklinehq/trunkline/sqldb"
)

// webURL validates the address of a web server; "" is allowed.
func (c *checker) webURL(flag, v string) string {
	if v == "" {
		return ""
	}
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		c.refuse(flag, "must be an absolute http or https URL")
		return v
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		c.refuse(flag, "must have no user, query or fragment")
	}
	return v
}

// databaseURL validates v, which may be @file because it may contain a password.
func (c *checker) databaseURL(flag, v string) string {
	if v = c.secret(flag, v); v == "" {
		return ""
	}
	scheme, rest, _ := strings.Cut(v, "://")
	switch scheme {
	case "sqlite":
		switch path, _, _ := strings.Cut(rest, "?"); path {
		case "":
			c.refuse(flag, "names no file")
		case ":memory:":
			c.refuse(flag, "names a database in memory, which is lost when the program ends: name a file")
		}
	case "postgres", "postgresql":
		if _, err := url.Parse(v); err != nil {
			c.refuse(flag, "is not a URL: special characters in a password are written as %XX")
		}
	default:
		c.refuse(flag, "must begin with postgres:// or sqlite://")
	}
	return v
}

// database validates the settings of a PostgreSQL.
func (c *checker) database(f flags) (o sqldb.Options) {
	const connections, listen = "database-connections", "database-listen-url"
	if f.DatabaseConnections != "" {
		if o.MaxConns = c.number(connections, f.DatabaseConnections, sqldb.MinConns); o.MaxConns > maxConnections {
			c.refuse(connections, fmt.Sprintf("must be at most %d", maxConnections))
		}
	}
	o.ListenURL = c.databaseURL(listen, f.DatabaseListenURL)
	if strings.HasPrefix(o.ListenURL, "sqlite:") {
		c.refuse(listen, "must begin with postgres://")
	}
	if url := c.secret("database-url", f.DatabaseURL); url == "" || isSQLite(url) {
		for flag, given := range map[string]string{connections: f.DatabaseConnections, listen: f.DatabaseListenURL} {
			if given != "" {
				c.refuse(flag, "is for a --database-url of PostgreSQL")
			}
		}
	}
	return o
}

// maxConnections is more than any PostgreSQL has.
const maxConnections = 10_000

// mailURL validates v, which may be @file because it may contain a password.
func (c *checker) mailURL(v string) server.Secret {
	if v = c.secret("smtp-url", v); v == "" {
		return ""
	}
	if _, err := mail.New(v, &mail.Options{From: "trunkline@localhost"}); err != nil {
		c.refuse("smtp-url", strings.TrimPrefix(err.Error(), "mail: "))
	}
	return server.Secret(v)
}
