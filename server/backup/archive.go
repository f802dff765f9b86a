package backup

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// maxSize limits the size of a manifest or a secret.
const maxSize = 16 << 20

// Archive is an archive that is open for reading. The caller must close it.
type Archive struct {
	// Manifest describes the content.
	Manifest Manifest
	z        *zip.ReadCloser
}

// Open opens an archive. It returns [ErrDamaged] if the file is not an archive, and
// [ErrNewer] if this program cannot read it.
func Open(name string) (*Archive, error) {
	z, err := zip.OpenReader(name)
	if _, wrongPath := errors.AsType[*fs.PathError](err); wrongPath {
		return nil, fmt.Errorf("opening a backup: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	a := &Archive{z: z}
	if err := a.readManifest(); err != nil {
		_ = z.Close()
		return nil, err
	}
	return a, nil
}

func (a *Archive) readManifest() error {
	text, err := a.small(manifestPath)
	if err != nil {
		return err
	}
	var format struct{ Format int }
	if err := json.Unmarshal(text, &format); err != nil || format.Format < 1 {
		return fmt.Errorf("%w: its manifest is invalid", ErrDamaged)
	}
	if err := json.Unmarshal(text, &a.Manifest); format.Format > Format || err != nil {
		return fmt.Errorf("%w, %s", ErrNewer, a.Manifest.Program)
	}
	return nil
}

// Close closes the archive.
func (a *Archive) Close() error { return a.z.Close() }

// Secret returns the server's secret, or "" if the archive has none.
func (a *Archive) Secret() (string, error) {
	if !a.Manifest.Secret {
		return "", nil
	}
	text, err := a.small(secretPath)
	return strings.TrimSpace(string(text)), err
}

func (a *Archive) small(name string) ([]byte, error) {
	f, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return text, nil
}

func (a *Archive) open(name string) (fs.File, error) {
	f, err := a.z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, name)
	}
	return f, nil
}

// Check reads the whole archive and compares all digests. It returns [ErrDamaged]
// if one differs.
func (a *Archive) Check(ctx context.Context, progress func(Step)) error {
	if progress == nil {
		progress = func(Step) {}
	}
	c := checking{ctx: ctx, a: a, progress: progress}
	for _, f := range a.z.File {
		c.total += int64(f.UncompressedSize64)
	}
	for _, t := range a.Manifest.Tables {
		if err := c.part(tablePath(t.Name), t.SHA256); err != nil {
			return err
		}
	}
	if a.Manifest.Files.Left {
		return nil
	}
	if err := c.part(filesPath, a.Manifest.Files.SHA256); err != nil {
		return err
	}
	return a.eachFile(func(f fileLine) error { return c.part(filePath(f.ID), f.SHA256) })
}

// checking is the state of a check.
type checking struct {
	ctx         context.Context
	a           *Archive
	progress    func(Step)
	done, total int64
}

func (c *checking) part(name, want string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	f, err := c.a.open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != want {
		return fmt.Errorf("%w: %s is not what was written", ErrDamaged, name)
	}
	c.done += n
	c.progress(Step{"check", "", c.done, c.total})
	return nil
}

// eachFile calls fn for each file of messages.
func (a *Archive) eachFile(fn func(fileLine) error) error {
	list, err := a.open(filesPath)
	if err != nil {
		return err
	}
	defer list.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		var f fileLine
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, filesPath, err)
		}
		if err := fn(f); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, filesPath, err)
	}
	return nil
}
