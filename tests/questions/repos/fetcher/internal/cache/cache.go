// Package cache keeps what was fetched.
package cache

import "errors"

// ErrMiss is returned when a key is not there.
var ErrMiss = errors.New("cache miss")

// Store is anything that keeps values.
type Store interface {
	Get(key string) (string, error)
}

// Memory keeps values in a map.
type Memory struct {
	values map[string]string
}

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	return &Memory{values: map[string]string{}}
}

// Get looks a value up.
func (m *Memory) Get(key string) (string, error) {
	value, ok := m.values[key]
	if !ok {
		return "", ErrMiss
	}
	return value, nil
}

// Counting counts the misses of the Memory in it.
type Counting struct {
	*Memory
	Misses int
}
