package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// serviceVariables are what Kubernetes adds to the environment of a container for
// Services named trunkline and trunkline-metrics.
var serviceVariables = []string{
	"TRUNKLINE_SERVICE_HOST=10.0.0.1", "TRUNKLINE_SERVICE_PORT=3000", "TRUNKLINE_SERVICE_PORT_HTTP=3000",
	"TRUNKLINE_PORT=tcp://10.0.0.1:3000", "TRUNKLINE_PORT_3000_TCP=tcp://10.0.0.1:3000",
	"TRUNKLINE_PORT_3000_TCP_PROTO=tcp", "TRUNKLINE_PORT_3000_TCP_PORT=3000", "TRUNKLINE_PORT_3000_TCP_ADDR=10.0.0.1",
	"TRUNKLINE_METRICS_SERVICE_HOST=10.0.0.2", "TRUNKLINE_METRICS_SERVICE_PORT=9100", "TRUNKLINE_METRICS_PORT=tcp://[fd00::2]:9100",
	"TRUNKLINE_METRICS_PORT_9100_TCP=tcp://[fd00::2]:9100", "TRUNKLINE_METRICS_PORT_9100_TCP_PROTO=tcp",
	"TRUNKLINE_METRICS_PORT_9100_TCP_PORT=9100", "TRUNKLINE_METRICS_PORT_9100_TCP_ADDR=fd00::2",
	"TRUNKLINE_METRICS_PORT_53_UDP=udp://10.0.0.2:53", "TRUNKLINE_METRICS_PORT_53_UDP_PORT=53",
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for variable, says := range map[string]string{
		"TRUNKLINE_SIGNUPS=hush-hush":         "TRUNKLINE_SIGNUPS: there is no such setting, did you mean TRUNKLINE_SIGNUP?",
		"TRUNKLINE_DATABASE_URI=hush-hush":    "TRUNKLINE_DATABASE_URI: there is no such setting, did you mean TRUNKLINE_DATABASE_URL?",
		"TRUNKLINE_SERCET=hush-hush":          "TRUNKLINE_SERCET: there is no such setting, did you mean TRUNKLINE_SECRET?",
		"TRUNKLINE_WITHSECRET=1":              "TRUNKLINE_WITHSECRET: there is no such setting, did you mean TRUNKLINE_WITH_SECRET?",
		"TRUNKLINE_PORT=3000":                 "TRUNKLINE_PORT: there is no such setting, did you mean TRUNKLINE_ADDR?",
		"TRUNKLINE_METRICS_PORT=9100":         "TRUNKLINE_METRICS_PORT: there is no such setting, did you mean TRUNKLINE_METRICS_ADDR?",
		"TRUNKLINE_REDIS_PASSWORD=hush-hush":  "TRUNKLINE_REDIS_PASSWORD: there is no such setting: trunkline --help lists all",
		"TRUNKLINE_=hush-hush":                "TRUNKLINE_: there is no such setting: trunkline --help lists all",
		"TRUNKLINE_WEB_TEST_SEED=hush-hush":   "TRUNKLINE_WEB_TEST_SEED: there is no such setting",
		"TRUNKLINE_UNKNOWN_SERVICE_HOSTS=1":   "TRUNKLINE_UNKNOWN_SERVICE_HOSTS: there is no such setting",
		"TRUNKLINE_SIGNUPS":                   "", // not set
		"TRUNKLINE_SIGNUPS=":                  "",
		"TRUNKLINE_SIGNUP=hush-hush":          "", // its value is checked later
		"TRUNKLINE_METRICS_ADDR=:1":           "",
		"TRUNKLINE_TOKEN=hush-hush":           "", // of pair
		"TRUNKLINE_PASSWORD=hush-hush":        "",
		"TRUNKLINE_URL=http://localhost:3000": "",
		"TRUNKLINE_SHARED=/shared":            "",
		"TRUNKLINES_SIGNUPS=x":                "",
		"TRUNKLINE=x":                         "",
		"SIGNUPS=x":                           "",
	} {
		c := &checker{}
		c.environment([]string{"PATH=/bin", variable, "TRUNKLINE_DATA=x"})
		if says == "" {
			require.NoError(t, c.err, variable)
			continue
		}
		require.ErrorContains(t, c.err, says, variable)
		require.NotContains(t, c.err.Error(), "hush-hush")
	}
	c := &checker{}
	c.environment([]string{"TRUNKLINE_SIGNUPS=x", "TRUNKLINE_DATABASES=x", "TRUNKLINE_DATAS=x"})
	require.ErrorContains(t, c.err, "TRUNKLINE_DATABASES: ", "the first by its name")
}

// TestServiceVariables has no setting that a Service could set by its name.
func TestServiceVariables(t *testing.T) {
	t.Parallel()
	c := &checker{}
	c.environment(serviceVariables)
	require.NoError(t, c.err)
	all := settingVariables()
	require.Contains(t, all, "TRUNKLINE_TLS_CERT")
	require.Contains(t, all, "TRUNKLINE_REFERENCE", "of a command")
	for _, name := range all {
		require.False(t, isOther(name, "tcp://10.0.0.1:3000"), name)
	}
}

// TestUnknownVariable gives each command that reads settings a variable that is none. The
// others are of help where something is wrong, and work.
func TestUnknownVariable(t *testing.T) {
	t.Parallel()
	env := []string{"TRUNKLINE_SIGNUPS=hush-hush", "TRUNKLINE_DATA=" + filepath.Join(t.TempDir(), "none")}
	const says = "TRUNKLINE_SIGNUPS: there is no such setting, did you mean TRUNKLINE_SIGNUP?"
	for _, args := range [][]string{
		{"serve"}, {"backup", "x"}, {"restore", "x"}, {"user", "list"}, {"user", "create", "ana@example.org"}, {"account", "quota", "1"}, {"pair", "--reference", "1"},
	} {
		code, out, why := output(t, env, args...)
		require.Equal(t, exitSetting, code, "%v: %s", args, why)
		require.Empty(t, out)
		require.Equal(t, "trunkline: "+says+"\n", why, "%v", args)
	}
	found := examined(t, env, exitFailed)
	require.Equal(t, []finding{{"settings", stateBad, says, "correct it; trunkline --help lists all settings"}}, found["settings"])
	require.Len(t, found, 1)
	for _, args := range [][]string{{"version"}, {"completion", "bash"}, {"--help"}, {"serve", "--help"}} {
		code, _, why := output(t, env, args...)
		require.Zero(t, code, "%v: %s", args, why)
	}
	p, _ := start(t, serviceVariables, "--data", t.TempDir())
	p.terminate(t)
}

// TestVariableOfWrongType does not repeat the value.
func TestVariableOfWrongType(t *testing.T) {
	t.Parallel()
	for variable, c := range map[string]struct {
		says string
		args []string
	}{
		"TRUNKLINE_FILES":     {"must be true or false", []string{"doctor"}},
		"TRUNKLINE_REFERENCE": {"must be a whole number", []string{"pair"}},
	} {
		code, _, why := output(t, []string{variable + "=hush-hush"}, c.args...)
		require.Equal(t, exitSetting, code, why)
		require.Equal(t, "trunkline: "+variable+": "+c.says+"\n", why)
	}
}

// TestFolders starts, backs up and examines where a folder cannot be created or used:
// every command names the folder and the cause.
func TestFolders(t *testing.T) {
	t.Parallel()
	plain := file(t, "x")
	below, used, broken := filepath.Join(plain, "below"), t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "media"), nil, 0o600))
	const notFolder = ": not a directory"
	for name, c := range map[string]struct {
		check, flag, folder, cause string
		args                       []string
	}{
		"data":            {"data", "--data", below, notFolder, []string{"--data", below}},
		"data is a file":  {"data", "--data", plain, notFolder, []string{"--data", plain}},
		"media":           {"media", "--media", below, notFolder, []string{"--media", below}},
		"media is a file": {"media", "--media", plain, notFolder, []string{"--media", plain}},
		"database":        {"database", "--database-url", below, notFolder, []string{"--database-url", "sqlite://" + below + "/x.db"}},
		"no database":     {"database", "--database-url", plain + "s", ": no such file or directory", []string{"--database-url", "sqlite://" + plain + "s/x.db"}},
		"own media":       {"media", "--media", filepath.Join(broken, "media"), notFolder, []string{"--data", broken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--data", t.TempDir()}, c.args...) // the last one counts
			text := refused(t, nil, args...)
			require.Contains(t, text, "trunkline: "+c.flag+": the ")
			require.Contains(t, text, " "+c.folder)
			require.Contains(t, text, c.cause)
			found := examined(t, nil, exitFailed, append([]string{"--addr", "127.0.0.1:0"}, args...)...)[c.check]
			require.Len(t, found, 1)
			require.Equal(t, stateBad, found[0].State)
			require.Contains(t, found[0].Text, "the folder "+c.folder+" cannot be used: ")
			require.Contains(t, found[0].Text, c.cause)
		})
	}
	if runtime.GOOS == "linux" { // where nobody can create a folder
		require.Contains(t, refused(t, nil, "--data", "/proc/none"), "--data: the folder /proc/none cannot be created: ")
		require.Contains(t, examined(t, nil, exitFailed, "--data", "/proc/none")["data"][0].Text, "the folder /proc/none cannot be used: ")
	}
	p, _ := start(t, nil, "--data", used)
	p.terminate(t)
	require.Contains(t, refused(t, nil, "backup", "--data", used, "--to", below), "--to: the folder "+below+" cannot be used"+notFolder)
	require.Contains(t, refused(t, nil, "backup", "--data", used, filepath.Join(below, "x")), "FILE: the folder "+below+" cannot be used"+notFolder)
}

// FuzzEnvironment gives the server a variable: it is accepted, or refused by its name in
// one line that does not repeat the value.
func FuzzEnvironment(f *testing.F) {
	for _, name := range []string{"", "SIGNUP", "SIGNUPS", "PORT", "PORT_1_TCP", "SERVICE_HOST", "\n", "%s", "=", strings.Repeat("x", 100)} {
		f.Add(name, "hush-hush-hush-hush")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		c := &checker{}
		c.environment([]string{"TRUNKLINE_" + name + "=" + value})
		if c.err == nil {
			return
		}
		name, _, _ = strings.Cut(name, "=")
		require.True(t, strings.HasPrefix(c.err.Error(), "TRUNKLINE_"+name+": there is no such setting"), c.err)
		if len(value) > 12 && !strings.Contains(name, value) {
			require.NotContains(t, c.err.Error(), value)
		}
	})
}
