// Package bench compares the breaker of this project with those of other
// libraries. It is a module of its own so that nobody else downloads them:
//
//	cd bench && go test -bench . -cpu 2
package bench
