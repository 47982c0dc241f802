package main

import (
	"testing"

	"example.com/fetcher/internal/cache"
)

func TestFetch(t *testing.T) {
	if err := fetch(cache.NewMemory(), "x"); err != nil {
		t.Fatal(err)
	}
}
