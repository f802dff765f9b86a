package testkit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

var errNoBinaries = errors.New("no PostgreSQL binaries in PGBIN, /usr/lib/postgresql or PATH: the PostgreSQL half is not tested")

// binaries returns the folder of initdb and postgres (15 or newer).
func binaries() (string, error) {
	if d := os.Getenv("PGBIN"); d != "" {
		return d, nil
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	version := func(dir string) int { v, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))); return v }
	if len(dirs) > 0 {
		return slices.MaxFunc(dirs, func(a, b string) int { return version(a) - version(b) }), nil
	}
	p, err := exec.LookPath("postgres")
	if err != nil {
		return "", errNoBinaries
	}
	if p, err = filepath.EvalSymlinks(p); err != nil {
		return "", fmt.Errorf("finding PostgreSQL: %w", err)
	}
	return filepath.Dir(p), nil
}

// account returns the account that runs the server: the user of the test, or, since
// PostgreSQL refuses root, the postgres or nobody account.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no postgres or nobody account")
}

// memory is where Linux has a file system in memory. Databases of tests are thousands
// of small files that live for a second: on ext4 a quarter of PostgreSQL's processor
// time goes into finding inodes for them.
const memory = "/dev/shm"

// memoryNeeded is how many bytes the file system in memory must have left. A server
// with the databases of a package's tests needs a sixth of it.
const memoryNeeded = 1 << 30

// writeAndSearch are the permissions W_OK and X_OK of access(2).
const writeAndSearch = 2 | 1

// serversDir returns the folder in which servers have theirs: in memory where there
// is room. The path of a Unix socket may have only 107 bytes, so a long TMPDIR is
// not used.
func serversDir() string {
	var fs syscall.Statfs_t
	writable := syscall.Access(memory, writeAndSearch) == nil
	if err := syscall.Statfs(memory, &fs); err == nil && writable && fs.Bavail*uint64(fs.Bsize) >= memoryNeeded {
		return memory
	}
	if tmp := os.TempDir(); len(tmp) <= 60 {
		return tmp
	}
	return "/tmp"
}

// serverDir makes the folder of a server.
func serverDir(cred *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp(serversDir(), "trunkline-pg-")
	if err != nil {
		return "", fmt.Errorf("making a folder for PostgreSQL: %w", err)
	}
	if cred != nil {
		if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return "", fmt.Errorf("making a folder for PostgreSQL: %w", err)
		}
	}
	return dir, nil
}

// initData fills data with a new cluster. initdb takes a second, so its result is
// cached in the temporary folder and copied.
func initData(bin, data string, cred *syscall.Credential) error {
	version, err := exec.Command(filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return fmt.Errorf("asking PostgreSQL for its version: %w", err)
	}
	cache := filepath.Join(os.TempDir(), fmt.Sprintf("trunkline-initdb-%d-%.6x", os.Geteuid(), sha256.Sum256(version)))
	if _, err := os.Stat(cache); err == nil {
		return run(exec.Command("cp", "-a", "--reflink=auto", cache, data))
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8",
		"--locale=C", "--no-sync", "--no-instructions", "--wal-segsize=16")
	cmd.Dir = filepath.Dir(data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	if err := run(cmd); err != nil {
		return err
	}
	// Two test binaries, or two servers of one, may be here at the same time: each
	// makes its own copy, and the second rename fails.
	dir, err := os.MkdirTemp("", "trunkline-initdb-")
	if err != nil {
		return fmt.Errorf("making a folder to keep a cluster: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	copied := filepath.Join(dir, "d")
	if run(exec.Command("cp", "-a", data, copied)) == nil {
		_ = os.Rename(copied, cache)
	}
	return nil
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}
