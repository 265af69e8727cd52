package manage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/proxy"
	"crossgate/proxy/wire"
)

const unlockBeneficiary = "unlockBeneficiary" // parameter and member

// payment asks for the transaction that pays for orders to an unlockBeneficiary on their give chain.
type payment struct {
	ids   []order.ID
	asked proxy.Query
}

// unlockRoute answers with the transaction that pays a taker for deliveries. Anyone may ask: it says who may send it.
func (p *paths) unlockRoute() proxy.Route[payment] {
	return proxy.Route[payment]{
		Paths:   []string{"/v1.0/dln/order/unlock-tx"},
		Dialect: proxy.Swapping,
		Cost:    proxy.SwapCost,
		Limit:   p.limit,
		Parse:   parsePayment,
		Key: func(path string, m payment) cache.Key {
			return proxy.KeyOf(path, m.ids, m.asked.First(unlockBeneficiary))
		},
		Load: p.unlock,
	}
}

func parsePayment(c *gin.Context) (m payment, err error) {
	q := proxy.ReadQuery(c.Request.URL.RawQuery)
	text, _ := q.Required("orderIds")
	for each := range strings.SplitSeq(text, ",") {
		id, err := chain.ParseHash(each)
		if most := order.MostUnlocked(0); err != nil || slices.Contains(m.ids, id) || len(m.ids) == most {
			q.Mistake(fmt.Sprintf("orderIds must be 1 to %d different ids, 0x and 64 hex digits each, with commas between", most))
			break
		}
		m.ids = append(m.ids, id)
	}
	q.Required(unlockBeneficiary)
	m.asked = q
	return m, q.Err()
}

func (p *paths) unlock(ctx context.Context, m payment) ([]proxy.Body, cache.Life, error) {
	orders := make([]*order.Order, len(m.ids))
	for i, id := range m.ids {
		var err error
		if orders[i], err = p.order(ctx, id); err != nil {
			return nil, proxy.NoLife, err
		}
	}
	give := orders[0].Terms.Give.Chain
	beneficiary := m.asked.Account(unlockBeneficiary, p.chains.Family(give))
	if err := m.asked.Err(); err != nil {
		return nil, proxy.NoLife, err
	}
	u, err := creation.NewUnlock(orders, beneficiary)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	return p.settle(orders[0].Terms, func(s Settler) (wire.Settlement, error) {
		tx, err := s.Unlock(ctx, u)
		return wire.Settlement{Transaction: tx, Beneficiary: beneficiary, PaidOn: give}, err
	}, unlockBeneficiary)
}
