package model

import "fmt"

// ClosedLoop describes clients that each have one request at a time: a client
// thinks, sends, waits for the answer and thinks again. The load therefore
// falls when answers become slow. Who drives the clients decides whether the
// first request comes before the first thought.
type ClosedLoop struct {
	// Clients is their number, at least 1.
	Clients int
	// Think is the time from an answer to the client's next request. The zero
	// Law means none.
	Think Law
}

// Validate reports the first field that is out of range.
func (c ClosedLoop) Validate() error {
	if c.Clients < 1 {
		return fmt.Errorf("model: closed loop: clients %d, want at least 1", c.Clients)
	}
	if err := c.Think.problem(); err != "" {
		return fmt.Errorf("model: closed loop: think time %s", err)
	}
	return nil
}
