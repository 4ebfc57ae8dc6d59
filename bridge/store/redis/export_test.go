package redis

import "github.com/redis/rueidis"

// Client lets tests reach a record's keys beside the store.
func (s *Store) Client() rueidis.Client { return s.client.Load().Client }
