package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/sqldb"
)

// settings are validated flags.
type settings struct {
	Addr        string
	Data        string
	DatabaseURL server.Secret // may contain a password; "": SQLite in Data
	Database    sqldb.Options // likewise
	Secrets     []server.Secret
	TLSCert     string
	TLSKey      string
	MetricsAddr string
	LogLevel    slog.Level
	LogJSON     bool
	GCPercent   int    // 0: the default
	MemoryLimit int    // in bytes; 0: the default
	BaseURL     string // "": derived from the port
	Media       string // folder or s3://…; "": a folder in Data
	OpenAI      modelServer
	Anthropic   modelServer

	// Server is passed to the server as it is.
	Server server.Config
}

// settingError refuses one setting.
type settingError struct {
	flag string // "--addr", or the name of a variable
	why  string
}

func (e *settingError) Error() string { return e.flag + ": " + e.why }

// settings validates f, and the names of the variables of the environment. Its error is
// a [settingError].
func (f flags) settings() (settings, error) {
	s := settings{Data: or(f.Data, "trunkline-data")}
	c := &checker{}
	c.environment(os.Environ())
	s.Addr = c.address("addr", or(f.Addr, ":3000"))
	s.MetricsAddr = c.address("metrics-addr", f.MetricsAddr)
	s.DatabaseURL = server.Secret(c.databaseURL("database-url", f.DatabaseURL))
	s.Database = c.database(f)
	s.Secrets = c.secrets(f.Secret)
	s.BaseURL = strings.TrimRight(c.webURL("base-url", f.BaseURL), "/")
	s.TLSCert, s.TLSKey = c.tls(f.TLSCert, f.TLSKey)
	s.LogLevel = c.level(or(f.Log, "info"))
	s.LogJSON = c.choice("log-format", or(f.LogFormat, "text"), "text", "json") == "json"
	if f.GCPercent != "" {
		if s.GCPercent = c.number("gc-percent", f.GCPercent, 10); s.GCPercent > maxGCPercent {
			c.refuse("gc-percent", fmt.Sprintf("must be at most %d", maxGCPercent))
		}
	}
	if f.MemoryLimit != "" {
		s.MemoryLimit = c.number("memory-limit", f.MemoryLimit, 64<<20)
	}
	s.Server = server.Config{
		TrustedProxies:    c.prefixes("trusted-proxies", f.TrustedProxies),
		ClosedSignUp:      c.choice("signup", or(f.Signup, "open"), "open", "closed") == "closed",
		GraphURL:          strings.TrimRight(c.webURL("graph-url", f.GraphURL), "/"),
		MetaAppSecret:     server.Secret(c.secret("meta-app-secret", f.MetaAppSecret)),
		MetaVerifyToken:   server.Secret(c.secret("meta-verify-token", f.MetaVerifyToken)),
		WebhookAllow:      c.allow(f.WebhookAllow),
		APILimit:          c.number("api-limit", or(f.APILimit, "0"), 0),
		MessageRetention:  c.duration("retention-messages", or(f.RetentionMessages, "0")),
		SMTPURL:           c.mailURL(f.SMTPURL),
		OIDC:              c.oidc(f),
		PaymentsSecret:    server.Secret(c.secret("payments-secret", f.PaymentsSecret)),
		DeliveryRetention: forEver(c.duration("retention-deliveries", or(f.RetentionDeliveries, "30d"))),
		Model:             c.model("model", f.Model),
		EmbeddingModel:    c.model("embedding-model", f.EmbeddingModel),
		Prices:            c.fileOrURL("prices", f.Prices),
		Quotas:            c.quotas(f),
		MCPLimit:          c.callLimit("mcp-limit", or(f.MCPLimit, "60")),
		MCPAccountLimit:   c.callLimit("mcp-limit-account", or(f.MCPLimitAccount, "600")),
		AuditRetention:    forEver(c.duration("retention-audit", or(f.RetentionAudit, "90d"))),
		ChangeRetention:   forEver(c.duration("retention-changes", or(f.RetentionChanges, "365d"))),
	}
	s.Media = c.media(f.Media)
	s.OpenAI = modelServer{c.webURL("openai-url", f.OpenAIURL), server.Secret(c.secret("openai-key", f.OpenAIKey))}
	s.Anthropic = modelServer{c.webURL("anthropic-url", f.AnthropicURL), server.Secret(c.secret("anthropic-key", f.AnthropicKey))}
	return s, c.err
}

// oidc returns the sign-in provider. It does not normalize the address, since
// tokens contain it as it is written.
func (c *checker) oidc(f flags) server.OIDC {
	o := server.OIDC{
		Issuer: c.webURL("oidc-issuer", f.OIDCIssuer), ClientID: f.OIDCClientID, Name: f.OIDCName,
		ClientSecret: server.Secret(c.secret("oidc-client-secret", f.OIDCClientSecret)),
	}
	switch {
	case o.Issuer != "" && o.ClientID == "":
		c.refuse("oidc-client-id", "must be given together with --oidc-issuer")
	case o.Issuer == "" && (o.ClientID != "" || o.ClientSecret != ""):
		c.refuse("oidc-issuer", "must be given together with --oidc-client-id")
	}
	return o
}

// forEver converts 0, for ever, to the value of server.Config.
func forEver(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// checker parses values and remembers the first error.
type checker struct{ err error }

func (c *checker) refuse(flag, why string) {
	if c.err == nil {
		c.err = &settingError{"--" + flag, why}
	}
}

func (c *checker) address(flag, v string) string {
	if v == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		c.refuse(flag, "must be HOST:PORT or :PORT")
		return v
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		c.refuse(flag, "the port must be a number from 0 to 65535")
	}
	if strings.ContainsAny(host, "/ \t") {
		c.refuse(flag, "the host must be a name or an IP address")
	}
	return v
}

func (c *checker) tls(cert, key string) (certFile, keyFile string) {
	switch {
	case cert != "" && key == "":
		c.refuse("tls-key", "must be given together with --tls-cert")
	case cert == "" && key != "":
		c.refuse("tls-cert", "must be given together with --tls-key")
	}
	return cert, key
}

func (c *checker) choice(flag, v string, allowed ...string) string {
	for _, a := range allowed {
		if strings.EqualFold(v, a) {
			return a
		}
	}
	c.refuse(flag, "must be "+strings.Join(allowed[:len(allowed)-1], ", ")+" or "+allowed[len(allowed)-1])
	return ""
}

// model parses a name such as openai/gpt-5.
func (c *checker) model(flag, v string) string {
	if provider, name, ok := strings.Cut(v, "/"); v != "" && (!ok || provider == "" || name == "") {
		c.refuse(flag, "must be a provider and a model, as openai/gpt-5")
	}
	return v
}

func (c *checker) level(v string) slog.Level {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	return levels[c.choice("log", v, "debug", "info", "warn", "error")]
}

func (c *checker) number(flag, v string, least int) int {
	n, err := strconv.Atoi(v)
	if err != nil || n < least {
		c.refuse(flag, fmt.Sprintf("must be a whole number of at least %d", least))
		return least
	}
	return n
}

// callLimit parses a number of calls per minute within the limits of package mcp.
func (c *checker) callLimit(flag, v string) int {
	const limit = 1_000_000
	n := c.number(flag, v, 1)
	if n > limit {
		c.refuse(flag, fmt.Sprintf("must be at most %d", limit))
	}
	return n
}

// duration parses "30d", "12h" or "0".
func (c *checker) duration(flag, v string) time.Duration {
	if v == "0" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if days, ok := strings.CutSuffix(v, "d"); ok {
		var n int64
		n, err = strconv.ParseInt(days, 10, 32)
		d = time.Duration(n) * 24 * time.Hour
		if n > 36500 {
			err = strconv.ErrRange
		}
	}
	if err != nil || d < 0 {
		c.refuse(flag, "must be a duration like 90d or 12h, or 0 for unlimited")
		return 0
	}
	return d
}

func (c *checker) prefixes(flag, v string) []netip.Prefix {
	var out []netip.Prefix
	for _, part := range list(v) {
		p, err := netip.ParsePrefix(part)
		if a, aerr := netip.ParseAddr(part); err != nil && aerr == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			c.refuse(flag, "must be a comma list of networks like 10.0.0.0/8")
			return nil
		}
		out = append(out, p.Masked())
	}
	return out
}

func (c *checker) allow(v string) []string {
	entries := list(v)
	if _, err := guard.New(entries); err != nil {
		c.refuse("webhook-allow", "must be a comma list of networks like 10.0.0.0/8 and hosts")
	}
	return entries
}

// secrets parses a comma-separated list whose parts may be @file.
func (c *checker) secrets(v string) []server.Secret {
	var out []server.Secret
	for _, part := range list(v) {
		for _, s := range list(c.secret("secret", part)) {
			if len(s) < keyring.MinSecret {
				c.refuse("secret", fmt.Sprintf("each secret needs at least %d characters", keyring.MinSecret))
			}
			out = append(out, server.Secret(s))
		}
	}
	if v != "" && len(out) == 0 {
		c.refuse("secret", "holds no secret")
	}
	return out
}

// maxSecretFile is more than any list of secrets needs. It prevents a wrong path
// from filling the memory.
const maxSecretFile = 64 << 10

// secret returns v, or the text of the file if v is @file.
func (c *checker) secret(flag, v string) string {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		return v
	}
	info, err := os.Stat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSecretFile) {
		c.refuse(flag, "the file is not a small text file")
		return ""
	}
	b, err := os.ReadFile(name) //nolint:gosec // the operator chose it
	if err != nil {
		c.refuse(flag, "the file cannot be read")
		return ""
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		c.refuse(flag, "the file is empty")
	}
	return text
}

func (c *checker) media(v string) string {
	if rest, ok := strings.CutPrefix(v, "s3://"); ok {
		if bucket, _, _ := strings.Cut(rest, "?"); bucket == "" {
			c.refuse("media", "names no bucket")
		}
		return v
	}
	if strings.Contains(v, "://") {
		c.refuse("media", "must be a folder or s3://BUCKET")
	}
	return v
}

func (c *checker) fileOrURL(flag, v string) string {
	if v == "" {
		return ""
	}
	if strings.Contains(v, "://") {
		return c.webURL(flag, v)
	}
	if info, err := os.Stat(filepath.Clean(v)); err != nil || !info.Mode().IsRegular() {
		c.refuse(flag, "must be a file that exists, or an http or https URL")
	}
	return v
}

// list splits a text at commas and drops empty parts.
func list(v string) []string {
	var out []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
