package main

import (
	"errors"
	"fmt"

	"example.com/fetcher/internal/cache"
)

func main() {
	store := cache.NewMemory()
	if err := fetch(store, "start"); err != nil {
		fmt.Println("fetch failed:", err)
	}
}

func fetch(store cache.Store, key string) error {
	_, err := store.Get(key)
	if errors.Is(err, cache.ErrMiss) {
		return nil
	}
	return err
}
