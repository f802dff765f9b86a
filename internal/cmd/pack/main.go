// Command pack packs a folder into an archive, by its name a zip file or a
// compressed tar file. The same files always give the same bytes: they are sorted
// by name, have no owner, and all have the same time.
//
//	go run ./internal/cmd/pack FOLDER ARCHIVE SECONDS
//
// SECONDS is that time, since 1970.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("give the folder, the archive and its time")
	}
	seconds, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("the time: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	pack := packTar
	switch {
	case strings.HasSuffix(args[1], ".zip"):
		pack = packZip
	case !strings.HasSuffix(args[1], ".tar.gz"):
		return errors.New("the archive must be a .zip or a .tar.gz")
	}
	out, err := os.Create(args[1]) //nolint:gosec // the caller names it
	if err != nil {
		return err
	}
	return errors.Join(pack(args[0], out, at), out.Close())
}

// each calls fn for each file below a folder, in order, with its name in the
// archive and its mode.
func each(folder string, fn func(name string, mode fs.FileMode, file *os.File) error) error {
	return filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error { //nolint:gosec // as above
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a file", name)
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		rel, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		file, err := os.Open(name) //nolint:gosec // below that folder
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // it was only read
		return fn(path.Join(filepath.Base(folder), filepath.ToSlash(rel)), mode, file)
	})
}

func packTar(folder string, out io.Writer, at time.Time) error {
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	to := tar.NewWriter(z)
	err = each(folder, func(name string, mode fs.FileMode, file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if err := to.WriteHeader(&tar.Header{Name: name, Mode: int64(mode), Size: info.Size(), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = io.Copy(to, file)
		return err
	})
	return errors.Join(err, to.Close(), z.Close())
}

func packZip(folder string, out io.Writer, at time.Time) error {
	to := zip.NewWriter(out)
	err := each(folder, func(name string, mode fs.FileMode, file *os.File) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		h.SetMode(mode)
		w, err := to.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, file)
		return err
	})
	return errors.Join(err, to.Close())
}
