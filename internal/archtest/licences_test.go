package archtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// libsignal is the module under the GPL, and whatsmeow is the one that imports it.
const (
	libsignal = "go.mau.fi/libsignal"
	whatsmeow = "go.mau.fi/whatsmeow"
	program   = module + "/server/cmd/trunkline"
)

// linksLibsignal lists the packages that link libsignal, tests not counted. All others
// are under the Apache License with all that they link.
var linksLibsignal = []string{
	module + "/provider/web",
	module + "/provider/web/webtest",
	program,
	module + "/server/panel/walk/cmd/phones", // of the tests of the panel
}

// list returns the lines of "go list" for a system.
func list(t *testing.T, system string, args ...string) []string {
	t.Helper()
	touch(t)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOOS="+system)
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestGPL checks which packages link code under the GPL, and that the program without
// WhatsApp Web does not. Its licence, which it prints, and that of its image follow.
func TestGPL(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "windows"} {
		for tags, want := range map[string][]string{"": linksLibsignal, "noweb": slices.DeleteFunc(slices.Clone(linksLibsignal), func(p string) bool { return p == program })} {
			var links, imports []string
			for _, line := range list(t, system, "-tags", tags, "-f", "{{.ImportPath}} {{join .Imports \" \"}}|{{join .Deps \" \"}}", "./...") {
				direct, all, _ := strings.Cut(line, "|")
				name, direct, _ := strings.Cut(direct, " ")
				if strings.Contains(all, libsignal+"/") {
					links = append(links, name)
				}
				if strings.Contains(direct, "go.mau.fi/") {
					imports = append(imports, name)
				}
			}
			require.Equal(t, want, links, "%s %s", system, tags)
			require.Equal(t, []string{module + "/provider/web", module + "/provider/web/webtest"}, imports, "%s %s", system, tags)
		}
	}
	licences := map[string]string{}
	for tags, want := range map[string]string{"": "GPL-3.0-or-later", "noweb": "Apache-2.0"} {
		var found []string
		for _, file := range strings.Fields(list(t, "linux", "-tags", tags, "-f", "{{join .GoFiles \" \"}}", program)[0]) {
			text, err := os.ReadFile(filepath.Join(root, "server", "cmd", "trunkline", file))
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`(?m)^const licence = "([\w.-]+)`).FindAllStringSubmatch(string(text), -1) {
				found = append(found, m[1])
			}
		}
		require.Equal(t, []string{want}, found, tags)
		licences[tags] = want
	}
	require.Equal(t, licences, imageLicences(t))
}

// TestLicenceOfLibsignal reads the licences of the modules, also of those that tests
// import: libsignal's is the only GPL, and documents name it.
func TestLicenceOfLibsignal(t *testing.T) {
	t.Parallel()
	begins := map[string]string{} // by the modules of these two licences
	for _, line := range list(t, "linux", "-test", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", "./...") {
		name, dir, _ := strings.Cut(line, " ")
		if name == "" || begins[name] != "" {
			continue
		}
		var files []string
		for _, pattern := range []string{"LICEN[CS]E*", "License*", "COPYING*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			files = append(files, found...)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			title, _, _ := strings.Cut(strings.Join(strings.Fields(string(text)), " "), " Copyright")
			if name == libsignal {
				require.Contains(t, strings.Join(strings.Fields(string(text)), " "), "libsignal-protocol-go Copyright (C) 2017 RadicalApp LLC This program is free software: you can redistribute it "+
					"and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.")
			}
			if m := regexp.MustCompile(`^(GNU .*|Mozilla Public License Version [0-9.]+)`).FindString(title); m != "" {
				begins[name] = m
			}
		}
	}
	require.Equal(t, map[string]string{
		libsignal:        "GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007",
		whatsmeow:        "Mozilla Public License Version 2.0",
		"go.mau.fi/util": "Mozilla Public License Version 2.0",
	}, begins)
	for _, file := range []string{"README.md", "NOTICE", "docs/embedding.md", "docs/dependencies.md", "docs/operations.md"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		require.NoError(t, err)
		require.Contains(t, string(text), "libsignal", file)
		require.Regexp(t, `GPL-3\.0|GNU General Public License`, string(text), file)
	}
}

// imageLicences returns the licences in the labels of the images of the Dockerfile, by
// the tags with which their programs are built. Each image contains the texts.
func imageLicences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", "Dockerfile"))
	require.NoError(t, err)
	stages := map[string]string{} // by their names
	for _, stage := range strings.Split("\n"+string(text), "\nFROM ")[1:] {
		first, _, _ := strings.Cut(stage, "\n")
		_, name, _ := strings.Cut(first, " AS ")
		stages[name] = stage
	}
	out := map[string]string{}
	for _, stage := range stages {
		label := regexp.MustCompile(`org\.opencontainers\.image\.licenses="([^"]+)"`).FindStringSubmatch(stage)
		if label == nil {
			continue
		}
		from := regexp.MustCompile(`(?m)^COPY --from=(\S+) /out/doc /usr/share/doc/trunkline$`).FindStringSubmatch(stage)
		require.NotNil(t, from, "there are no licences in:\n%s", stage)
		require.Contains(t, stage, "COPY --from="+from[1]+" /out/trunkline /trunkline")
		tags := regexp.MustCompile(`-tags "(\w*)"`).FindStringSubmatch(stages[from[1]])
		require.NotNil(t, tags, "stage %s", from[1])
		require.Contains(t, stages[from[1]], `./server/cmd/trunkline "`+tags[1]+`" >/out/doc/LICENSES-OF-OTHERS`)
		require.Equal(t, tags[1] == "", strings.Contains(stages[from[1]], "/out/doc/COPYING"))
		out[tags[1]] = label[1]
	}
	return out
}
