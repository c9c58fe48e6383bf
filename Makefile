# What people and CI run before a change lands.

.PHONY: check test race fmt vet tidy bench peers figures

check: fmt vet tidy race ## everything a change must pass

fmt:
	@bad=$$(gofmt -l .); test -z "$$bad" || { echo "gofmt would change:"; echo "$$bad"; exit 1; }

vet:
	go vet ./...

tidy:
	go mod tidy -diff

test:
	go test ./...

race:
	go test -race ./...

bench: ## the engine against a textbook engine, and the policies
	go test -run "^$$" -bench . ./sim ./policies ./model

peers: ## Allow + Record against other libraries
	cd bench && go test -run '^$$' -bench . -cpu 2

figures: ## every figure of the README, into docs/figures
	scripts/figures.sh
