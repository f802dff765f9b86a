package main

import (
	"net/url"
	"strings"
)

// webURL checks an address of a web server; "" is none.
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

// databaseURL checks v, which may be @file because it may hold a password.
func (c *checker) databaseURL(v string) string {
	if v = c.secret("database-url", v); v == "" {
		return ""
	}
	scheme, rest, _ := strings.Cut(v, "://")
	switch scheme {
	case "sqlite":
		if path, _, _ := strings.Cut(rest, "?"); path == "" {
			c.refuse("database-url", "names no file")
		}
	case "postgres", "postgresql":
		if _, err := url.Parse(v); err != nil {
			c.refuse("database-url", "is no URL: special characters in a password are written as %XX")
		}
	default:
		c.refuse("database-url", "must begin with postgres:// or sqlite://")
	}
	return v
}

func (c *checker) mailURL(v string) {
	if v = c.secret("smtp-url", v); v == "" {
		return
	}
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		c.refuse("smtp-url", "must be smtp://HOST:PORT or smtps://HOST:PORT")
	}
}
