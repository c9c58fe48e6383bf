package main

import (
	"errors"
	"os"
	"path/filepath"
)

// A place is a file that is to be written, and the flag that names it.
type place struct{ flag, path string }

// checkPlaces refuses, before the work rather than after it, places that cannot
// be written, that are no ordinary files, that are read, or that are one.
func checkPlaces(places []place, read []string) error {
	for i, p := range places {
		if err := p.check(); err != nil {
			return err
		}
		for _, r := range read {
			if sameFile(p.path, r) {
				return usagef("%s: %s is read, want another file", p.flag, p.path)
			}
		}
		for _, o := range places[:i] {
			if sameFile(p.path, o.path) {
				return usagef("%s and %s: both %s, want two files", o.flag, p.flag, p.path)
			}
		}
	}
	return nil
}

func (p place) check() error {
	switch info, err := os.Stat(p.path); {
	case p.path == "":
		return usagef("%s: no file, want one to write", p.flag)
	case err == nil && !info.Mode().IsRegular():
		return usagef("%s: %s is no ordinary file", p.flag, p.path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return usagef("%s: %w", p.flag, err)
	}
	dir := filepath.Dir(p.path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usagef("%s: %s: no such directory", p.flag, dir)
	}
	return probe(p.flag, dir)
}

// probe tries whether files can be written to a directory.
func probe(flag, dir string) error {
	f, err := os.CreateTemp(dir, ".stormglass-*")
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return usagef("%s: %s: %w", flag, dir, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// sameFile reports whether two names are of one file, be it there or not.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	if err == nil && err2 == nil {
		return os.SameFile(x, y)
	}
	return errors.Is(err, os.ErrNotExist) && errors.Is(err2, os.ErrNotExist) &&
		filepath.Base(a) == filepath.Base(b) && samePlace(filepath.Dir(a), filepath.Dir(b))
}

// samePlace reports whether two names are of one directory.
func samePlace(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// makeOut makes the directory of -out, and tries whether it can be written to.
func makeOut(s *settings) error {
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return usagef("-out: %w", err)
	}
	return probe("-out", s.out)
}
