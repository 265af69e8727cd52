package jsonrpc

import "slices"

// Heard is an endpoint's answer.
type Heard[T any] struct {
	Said T
	By   string
}

// Lists are second readings by endpoints that list what they have, and may leave something out.
type Lists[T any] struct {
	Method    string
	Faulty    *Faulty // these endpoints are asked last
	Times     int     // lists to read if only one endpoint answers
	LiarTimes int     // lists to read if that is a faulty one, or one whose lists differ
	List      func(*Client) (said T, by string, err error)
	Add       func(union, more T) T
	Differ    func(union, said T) bool // if not nil, an endpoint whose lists differ is faulty
}

// Hear lets one endpoint of each of two providers list, with one retry, preferring those that can be expected to
// answer. If only one does, several of its lists are united. By is empty for a union of lists by several endpoints.
func (l Lists[T]) Hear(c *Client) (heard []Heard[T], err error) {
	c = c.Avoiding(l.Faulty.Names()...)
	c.OneByOne(l.Method, func(one *Client) bool {
		said, err := l.union(one, Heard[T]{}, 1)
		if err != nil {
			said, err = l.union(one, Heard[T]{}, 1)
		}
		if err == nil && said.By == one.Name() {
			heard = append(heard, said)
		}
		return len(heard) == 2
	})
	if len(heard) == 2 || len(heard) == 1 && slices.Contains(l.Faulty.Names(), heard[0].By) {
		return heard, nil
	}
	alone, err := l.union(c, append(heard, Heard[T]{})[0], l.Times-len(heard))
	return []Heard[T]{alone}, err
}

func (l Lists[T]) union(c *Client, heard Heard[T], times int) (Heard[T], error) {
	for read := 0; read < times; read++ {
		said, by, err := l.List(c)
		if err != nil {
			return heard, err
		}
		isFirst := read == 0 && heard.By == ""
		if l.Differ != nil && !isFirst && heard.By == by && l.Differ(heard.Said, said) {
			l.Faulty.Mark(by)
		}
		if slices.Contains(l.Faulty.Names(), by) {
			times = max(times, l.LiarTimes)
		}
		if !isFirst && heard.By != by {
			by = ""
		}
		heard = Heard[T]{l.Add(heard.Said, said), by}
	}
	return heard, nil
}
