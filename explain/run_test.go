package explain_test

import (
	"context"

	"github.com/stormglass/stormglass/model"
)

// run runs a system to its end: what explain says of it is held against that.
func run(t interface{ Fatal(...any) }, c model.Config) *model.System {
	s, err := model.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}
