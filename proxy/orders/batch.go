package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/proxy"
)

// batchLanes are the concurrent lookups of a batch.
const batchLanes = 8

// batchRoute answers with the state and record of many orders, in the request's sequence, or each one's problem. A
// question is their ids or the hashes of their creations, as clients wrote them.
func (s *Orders) batchRoute() proxy.Route[[]string] {
	return proxy.Route[[]string]{
		Paths:   []string{"/api/Orders/batch"},
		Methods: []string{http.MethodPost},
		Cost:    proxy.SwapCost,
		Parse:   parseBatch,
		Key:     func(path string, texts []string) cache.Key { return proxy.KeyOf(path, texts) },
		Load:    s.loadBatch,
	}
}

func parseBatch(c *gin.Context) ([]string, error) {
	m, err := readMembers(c)
	if err != nil {
		return nil, err
	}
	texts := m.list("ids")
	if len(texts) == 0 && len(m.Wrong) == 0 {
		m.Mistake(fmt.Sprintf("ids must be a list of 1 to %d order ids or hashes of creations", longestList))
	}
	return texts, m.err()
}

type batched struct {
	ID      string          `json:"id"`
	State   string          `json:"state,omitempty"`
	Order   json.RawMessage `json:"order,omitempty"`
	Problem any             `json:"problem,omitempty"`
}

func (s *Orders) loadBatch(ctx context.Context, texts []string) ([]proxy.Body, cache.Life, error) {
	found := make([]batched, len(texts))
	var looking sync.WaitGroup
	places := make(chan struct{}, batchLanes)
	for i, text := range texts {
		places <- struct{}{}
		looking.Go(func() {
			defer func() { <-places }()
			found[i] = s.lookUp(ctx, text)
		})
	}
	looking.Wait()
	body, err := json.Marshal(map[string]any{"items": found})
	return proxy.OneBody(body), proxy.NoLife, err
}

// lookUp finds an order by its id or, because 32 bytes may also be a transaction hash, by its creation.
func (s *Orders) lookUp(ctx context.Context, text string) batched {
	tx, err := ParseTxHash(text, proxy.Tracking)
	var found *proxy.Body
	if err == nil {
		var unread error
		if id, malformed := chain.ParseHash(text); malformed == nil {
			found, unread = s.OrderRoute().Answer(ctx, s.server, id)
		}
		if found == nil {
			found, err = s.OrdersRoute().Answer(ctx, s.server, Creation{Tx: tx})
		}
		if IsMissing(err) && unread != nil && !proxy.IsKind(unread, proxy.UnknownOrder) {
			err = unread
		}
	}
	if err != nil {
		p := proxy.ProblemOf(err)
		return batched{ID: text, Problem: map[string]any{"errorCode": p.Status, "errorId": p.ID, "message": p.PublicText()}}
	}
	var order struct {
		State string `json:"state"`
	}
	_ = json.Unmarshal([]byte(found.Text), &order) // a record that this server encoded
	return batched{ID: text, State: order.State, Order: json.RawMessage(found.Text)}
}
