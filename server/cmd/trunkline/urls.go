package main

import (
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/mail"
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
func (c *checker) databaseURL(v string) string {
	if v = c.secret("database-url", v); v == "" {
		return ""
	}
	scheme, rest, _ := strings.Cut(v, "://")
	switch scheme {
	case "sqlite":
		switch path, _, _ := strings.Cut(rest, "?"); path {
		case "":
			c.refuse("database-url", "names no file")
		case ":memory:":
			c.refuse("database-url", "names a database in memory, which is lost when the program ends: name a file")
		}
	case "postgres", "postgresql":
		if _, err := url.Parse(v); err != nil {
			c.refuse("database-url", "is not a URL: special characters in a password are written as %XX")
		}
	default:
		c.refuse("database-url", "must begin with postgres:// or sqlite://")
	}
	return v
}

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
