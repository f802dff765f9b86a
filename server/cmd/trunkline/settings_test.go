package main

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media/s3"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/quota"
)

const (
	longSecret  = "hush-hush: a secret of more than 32 bytes"
	otherSecret = "hush-hush: another one of more than 32 bytes"
)

// file writes a file and returns its name.
func file(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s, err := flags{}.settings()
	require.NoError(t, err)
	require.Equal(t, settings{
		Addr: ":3000", Data: "trunkline-data",
		Server: server.Config{
			Quotas: quota.Limits{
				quota.References: 100, quota.Contacts: 1_000_000, quota.Storage: 100 << 30, quota.Messages: 1_000_000, quota.Runs: 1_000_000, quota.API: 12_000,
			},
			DeliveryRetention: 30 * 24 * time.Hour, MCPLimit: 60, MCPAccountLimit: 600, AuditRetention: 90 * 24 * time.Hour, ChangeRetention: 365 * 24 * time.Hour,
		},
	}, s)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s, err := flags{
		Addr: "127.0.0.1:0", Data: "/var/lib/x", DatabaseURL: "@" + file(t, "postgres://u:p@h/d\n"),
		BaseURL: "https://example.org/chat/", Secret: longSecret + ", @" + file(t, otherSecret+"\n"),
		TLSCert: "c", TLSKey: "k", TrustedProxies: "10.1.2.3/8, 192.0.2.1,fd00::/8", Signup: "Closed",
		GraphURL: "http://localhost:4000/", WebhookAllow: "10.0.0.0/8,hooks.internal", MetricsAddr: "localhost:9090",
		APILimit: "100", SMTPURL: "smtps://u:p@mail.example.org:465", PaymentsSecret: "@" + file(t, "whsec_x\n"), MetaAppSecret: "@" + file(t, "app\n"), MetaVerifyToken: "word", RetentionMessages: "90d", RetentionDeliveries: "0", Log: "WARN", LogFormat: "json",
		QuotaReferences: "1", QuotaContacts: "2", QuotaStorage: "3", QuotaMessages: "4", QuotaRuns: "5", QuotaAPI: "0",
		MCPLimit: "1", MCPLimitAccount: "2", RetentionAudit: "0", RetentionChanges: "0",
	}.settings()
	require.NoError(t, err)
	require.Equal(t, settings{
		Addr: "127.0.0.1:0", Data: "/var/lib/x", DatabaseURL: "postgres://u:p@h/d",
		BaseURL: "https://example.org/chat", Secrets: []server.Secret{longSecret, otherSecret},
		TLSCert: "c", TLSKey: "k", MetricsAddr: "localhost:9090", LogLevel: slog.LevelWarn, LogJSON: true,
		Server: server.Config{
			TrustedProxies: []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("fd00::/8"),
			},
			ClosedSignUp: true, GraphURL: "http://localhost:4000", WebhookAllow: []string{"10.0.0.0/8", "hooks.internal"},
			Quotas:   quota.Limits{quota.References: 1, quota.Contacts: 2, quota.Storage: 3, quota.Messages: 4, quota.Runs: 5, quota.API: 0},
			APILimit: 100, SMTPURL: "smtps://u:p@mail.example.org:465", PaymentsSecret: "whsec_x", MetaAppSecret: "app", MetaVerifyToken: "word", MessageRetention: 90 * 24 * time.Hour, DeliveryRetention: -1,
			MCPLimit: 1, MCPAccountLimit: 2, AuditRetention: -1, ChangeRetention: -1,
		},
	}, s)
}

// TestAddressesInGuides takes the addresses that the guides write.
func TestAddressesInGuides(t *testing.T) {
	t.Parallel()
	mails := testkit.ReadGuide(t, "../../../docs/accounts.md").Block(t, "mail")
	for mail := range strings.Lines(mails) {
		s, err := flags{SMTPURL: strings.TrimSpace(mail)}.settings()
		require.NoError(t, err)
		require.Equal(t, server.Secret(strings.TrimSpace(mail)), s.Server.SMTPURL)
	}
	bucket := strings.TrimSpace(testkit.ReadGuide(t, "../../../docs/running.md").Block(t, "bucket"))
	s, err := flags{Media: bucket}.settings()
	require.NoError(t, err)
	require.Equal(t, bucket, s.Media)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s3.Open(ctx, bucket, nil)
	require.ErrorIs(t, err, context.Canceled, "the address is right, and nobody is asked")
}

func TestModelSettings(t *testing.T) {
	t.Parallel()
	s, err := flags{
		OpenAIURL: "https://models.example.org/v1", AnthropicKey: "@" + file(t, "k"),
	}.settings()
	require.NoError(t, err)
	require.Equal(t, modelServer{URL: "https://models.example.org/v1"}, s.OpenAI)
	require.Equal(t, modelServer{Key: "k"}, s.Anthropic)
	models, err := s.models()
	require.NoError(t, err)
	require.Len(t, models, 2)
	none, err := settings{}.models()
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag   string
		values []string
	}{
		{"addr", []string{"3000", "localhost", ":x", ":65536", ":-1", "a b:1", "[::1", "http://localhost:3000"}},
		{"metrics-addr", []string{"9090", ":x"}},
		{"database-url", []string{"mysql://u:hush-hush@h/d", "trunkline.db", "sqlite://", "sqlite://?x=1", "sqlite://:memory:", "sqlite://:memory:?synchronous=normal", "postgres://u:hush-hush%@h/d", "@/nowhere"}},
		{"database-connections", []string{"5", "3", "x", "10001"}},
		{"database-listen-url", []string{"postgres://u:hush-hush@h/d", "sqlite://x", "@/nowhere"}},
		{"base-url", []string{"example.org", "ftp://example.org", "http://", "https://u:hush-hush@example.org", "https://example.org?x=1", "https://example.org/#x", "http://a b"}},
		{"secret", []string{"hush-hush", longSecret + ",hush-hush", "@/nowhere", "@" + file(t, "hush-hush"), "@" + file(t, ""), "@" + t.TempDir(), ",", "@" + file(t, strings.Repeat("x", 70<<10))}},
		{"trusted-proxies", []string{"10.0.0.0/33", "proxy.example.org", "10.0.0.0/8;10.0.0.1", "fe80::1%eth0"}},
		{"signup", []string{"yes", "true"}},
		{"graph-url", []string{"graph.facebook.com", "https://graph.facebook.com?x=1"}},
		{"webhook-allow", []string{"10.0.0.0/33", "http://x"}},
		{"media", []string{"s3://", "s3://?x=1", "gs://bucket"}},
		{"openai-url", []string{"x"}},
		{"openai-key", []string{"@/nowhere"}},
		{"model", []string{"gpt-5", "/gpt-5", "openai/"}},
		{"embedding-model", []string{"embedding"}},
		{"anthropic-url", []string{"x"}},
		{"anthropic-key", []string{"@/nowhere"}},
		{"prices", []string{"/nowhere", "ftp://example.org/prices", t.TempDir()}},
		{"smtp-url", []string{"mail.example.org:25", "http://mail.example.org", "smtp://", "smtp://u:hush-hush@h?tls=no", "smtp://u:hush-hush%@h", "@/nowhere"}},
		{"payments-secret", []string{"@/nowhere"}},
		{"meta-app-secret", []string{"@/nowhere"}},
		{"meta-verify-token", []string{"@/nowhere"}},
		{"mcp-limit", []string{"0", "-1", "x", "1.5", "1000001"}},
		{"mcp-limit-account", []string{"0"}},
		{"api-limit", []string{"-1", "x"}},
		{"quota-messages", []string{"-1", "x"}},
		{"retention-messages", []string{"-1d", "x", "d", "30", "99999999d", "1.5d"}},
		{"retention-deliveries", []string{"30"}},
		{"retention-audit", []string{"-1h"}},
		{"retention-changes", []string{"-1h", "30"}},
		{"gc-percent", []string{"9", "-1", "off", "x", "10001", "3000000000"}},
		{"memory-limit", []string{"67108863", "2GiB", "-1"}},
		{"log", []string{"loud"}},
		{"log-format", []string{"xml"}},
		{"tls-key", nil},
	} {
		for _, v := range c.values {
			t.Run(c.flag+"="+v[:min(30, len(v))], func(t *testing.T) {
				t.Parallel()
				var f flags
				set(t, &f, c.flag, v)
				_, err := f.settings()
				var wrong *settingError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, "--"+c.flag, wrong.flag)
				require.NotContains(t, err.Error(), "hush-hush")
			})
		}
	}
	_, err := flags{TLSCert: "x"}.settings()
	require.EqualError(t, err, "--tls-key: must be given together with --tls-cert")
	_, err = flags{TLSKey: "x"}.settings()
	require.EqualError(t, err, "--tls-cert: must be given together with --tls-key")
}

// set sets the field of a flag.
func set(t *testing.T, f *flags, flag, value string) {
	t.Helper()
	name := strings.ReplaceAll(flag, "-", "")
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if strings.EqualFold(v.Type().Field(i).Name, name) {
			v.Field(i).SetString(value)
			return
		}
	}
	require.Fail(t, "no such flag", flag)
}

// FuzzSettings gives every flag the same text: it is refused in one line that
// names a flag and does not repeat the text.
func FuzzSettings(f *testing.F) {
	for _, v := range []string{"", ":3000", "@/dev/null", "postgres://u:p@h/d", "s3://b", "30d", "10.0.0.0/8", "https://x", "%zz", "\x00"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if strings.HasPrefix(strings.TrimSpace(v), "@") {
			return // reads files
		}
		for i := range reflect.TypeFor[flags]().NumField() {
			var one flags
			reflect.ValueOf(&one).Elem().Field(i).SetString(v)
			_, err := one.settings()
			if err == nil {
				continue
			}
			require.NotContains(t, err.Error(), "\n")
			require.Regexp(t, `^--[a-z-]+: `, err.Error())
			if len(v) > 12 {
				require.NotContains(t, err.Error(), v)
			}
		}
	})
}
