package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A newFile is written under another name and renamed when it is whole, so
// that a file is whole or not there at all.
type newFile struct {
	*os.File
	path string
}

func createFile(path string) (*newFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	return &newFile{f, path}, nil
}

// keep gives the file its name; one that cannot have it is removed.
func (f *newFile) keep() error {
	err := f.Chmod(0o644)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		f.discard()
	}
	return err
}

// discard removes the file.
func (f *newFile) discard() {
	f.Close()
	os.Remove(f.Name())
}

// saveFile writes a whole file.
func saveFile(path string, write func(io.Writer) error) error {
	f, err := createFile(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.discard()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.keep()
}
