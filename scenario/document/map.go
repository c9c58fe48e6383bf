package document

// A Map is a mapping whose keys the author chooses, in the order of the file.
type Map[V any] struct {
	Keys   []string
	Places []Place
	Values []V
}

// Get returns the value of a key.
func (m Map[V]) Get(key string) (v V, ok bool) {
	for i, k := range m.Keys {
		if k == key {
			return m.Values[i], true
		}
	}
	return v, false
}

// add makes room for another entry and returns where its value goes.
func (m *Map[V]) add(key string, at Place) any {
	m.Keys = append(m.Keys, key)
	m.Places = append(m.Places, at)
	var v V
	m.Values = append(m.Values, v)
	return &m.Values[len(m.Values)-1]
}

// elem returns a value of the type of the values, for the schema.
func (m *Map[V]) elem() any { return new(V) }

// mapping is what all Maps have in common.
type mapping interface {
	add(key string, at Place) any
	elem() any
}
