// Command sbom prints the modules of a Go program as CycloneDX 1.6, with their
// checksums. It reads them from the program itself. The same program always gives
// the same text.
//
//	go run ./internal/cmd/sbom VERSION PROGRAM
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("give the version and the program")
	}
	info, err := buildinfo.ReadFile(args[1])
	if err != nil {
		return fmt.Errorf("reading what the program was built of: %w", err)
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(document(args[0], info))
}

// bom is the part of a CycloneDX document that this command fills in:
// https://cyclonedx.org/docs/1.6/json/.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []sum  `json:"hashes,omitempty"`
}

type sum struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

func document(version string, info *debug.BuildInfo) bom {
	b := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{part("application", info.Main.Path, "v"+version, "")},
		Components: []component{
			part("library", "std", strings.TrimPrefix(info.GoVersion, "go"), ""),
		},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, part("library", m.Path, m.Version, m.Sum))
	}
	return b
}

func part(kind, path, version, h1 string) component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(h1, "h1:")); err == nil && len(raw) > 0 {
		c.Hashes = []sum{{"SHA-256", hex.EncodeToString(raw)}} // of the module's files, as go.sum has it
	}
	return c
}
