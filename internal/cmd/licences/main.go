// Command licences prints the licences of everything in a program: those of Go, of
// each module of which the program links a package, and of files of others in our
// own packages. It fails if a module has none.
//
//	go run ./internal/cmd/licences OS/ARCH PACKAGE [TAGS]
//
// TAGS are the build tags, separated by commas.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 2 && len(args) != 3 {
		return errors.New("give the platform and the package, and maybe the tags")
	}
	system, arch, ok := strings.Cut(args[0], "/")
	if !ok {
		return errors.New("the platform must be OS/ARCH")
	}
	packages, err := linked(system, arch, args[1], strings.Join(args[2:], ""))
	if err != nil {
		return err
	}
	parts, err := partsOf(packages)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := p.print(out); err != nil {
			return err
		}
	}
	return nil
}

// pkg is a package as go list describes it.
type pkg struct {
	Dir        string
	Standard   bool
	Root       string // of a package of Go itself: where Go is
	EmbedFiles []string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linked returns the packages that a program links.
func linked(system, arch, name, tags string) ([]pkg, error) {
	list := exec.Command("go", "list", "-deps", "-tags="+tags, "-json=Dir,Standard,Root,EmbedFiles,Module", name) //nolint:gosec,noctx // of the build
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var why bytes.Buffer
	list.Stderr = &why
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w: %s", err, why.String())
	}
	var out []pkg
	for dec := json.NewDecoder(bytes.NewReader(text)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("listing the packages: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// part is a module, or another source of packages, with the files of its licences.
type part struct {
	name  string // "golang.org/x/net v0.62.0"
	root  string
	files []string
	own   bool // ours, which may contain files of others
}

// partsOf returns the parts that packages belong to, sorted by name.
func partsOf(packages []pkg) ([]*part, error) {
	all := map[string]*part{}
	for _, p := range packages {
		now := &part{name: "Go", root: p.Root}
		if m := p.Module; m != nil {
			now = &part{name: strings.TrimSpace(m.Path + " " + m.Version), root: m.Dir, own: m.Main}
		} else if !p.Standard {
			return nil, fmt.Errorf("the package in %s belongs to no module", p.Dir)
		}
		if all[now.name] == nil {
			all[now.name] = now
		}
		if err := all[now.name].search(p); err != nil {
			return nil, err
		}
	}
	parts := slices.SortedFunc(maps.Values(all), func(a, b *part) int { return cmp.Compare(a.name, b.name) })
	for _, p := range parts {
		if len(p.files) == 0 && !p.own {
			return nil, fmt.Errorf("%s has no licence in %s", p.name, p.root)
		}
	}
	return parts, nil
}

// licence matches the names of files with licences and notices.
var licence = regexp.MustCompile(`(?i)^((un|bundle-)?licen[cs]es?|copying|copyright|notices?|patents)([-_.](mit|bsd|apache|3rd-party|third-party|[a-z0-9-]*))?(\.(md|txt|rst))?$`)

// search searches the folder of a package, the folders above it within its part,
// and the folders of embedded files. Our own licence does not count for files of
// others.
func (p *part) search(in pkg) error {
	var folders []string
	for dir := in.Dir; strings.HasPrefix(dir, p.root); dir = filepath.Dir(dir) {
		if !p.own || dir != p.root {
			folders = append(folders, dir)
		}
	}
	for _, name := range in.EmbedFiles {
		folders = append(folders, filepath.Dir(filepath.Join(in.Dir, name)))
	}
	slices.Sort(folders)
	for _, dir := range slices.Compact(folders) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("looking for licences: %w", err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				p.take(filepath.Join(dir, e.Name()))
			}
		}
	}
	return nil
}

// take adds a file with a licence, once.
func (p *part) take(file string) {
	code := slices.Contains([]string{".go", ".json", ".js", ".html", ".tmpl"}, filepath.Ext(file))
	if licence.MatchString(filepath.Base(file)) && !code && !slices.Contains(p.files, file) {
		p.files = append(p.files, file)
	}
}

const rule = "================================================================================\n"

// print writes the licences of a part.
func (p *part) print(out io.Writer) error {
	slices.Sort(p.files)
	for _, file := range p.files {
		text, err := os.ReadFile(file) //nolint:gosec // of a module of the build
		if err != nil {
			return fmt.Errorf("reading a licence: %w", err)
		}
		name, err := filepath.Rel(p.root, file)
		if err != nil {
			return fmt.Errorf("naming a licence: %w", err)
		}
		if _, err := fmt.Fprintf(out, "%[1]s%[2]s: %[3]s\n%[1]s\n%[4]s\n\n", rule, p.name, filepath.ToSlash(name), bytes.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}
