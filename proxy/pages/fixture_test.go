package pages

import (
	"encoding/json"
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// The documented JSON, read back into the values that it is made of: pages of them must say what the API says.

type Named struct {
	Text string `json:"stringValue"`
}

func (n Named) chain() chain.ID { id, _ := chain.ParseID(n.Text); return id }

func (n Named) Amount() chain.Amount { a, _ := chain.ParseAmount(n.Text); return a }

func (n Named) address() chain.Address { a, _, _ := chain.ParseAnyAddress(n.Text); return a }

type tokenJSON struct {
	Decimals              uint8
	Name, Symbol, LogoURI string
}

func (t tokenJSON) token() token.Token {
	return token.Token{Decimals: t.Decimals, Name: t.Name, Symbol: t.Symbol, LogoURI: t.LogoURI}
}

type offerJSON struct {
	ChainID, TokenAddress, Amount, FinalAmount Named
	tokenJSON
}

func (o offerJSON) offer() order.Offer {
	return order.Offer{Chain: o.ChainID.chain(), Token: o.TokenAddress.address(), Amount: o.Amount.Amount()}
}

type eventJSON struct {
	TransactionHash, Initiator  Named
	BlockNumber, BlockTimeStamp uint64
}

type infoJSON struct{ TransactionMetadata *eventJSON }

type recordJSON struct {
	OrderID, MakerSrc, ReceiverDst, AllowedTakerDst, Taker Named

	Give                     offerJSON `json:"giveOfferWithMetadata"`
	Take                     offerJSON `json:"takeOfferWithMetadata"`
	ActualFulfillAmount      *Named
	State, ExternalCallState string
	FinalPercentFee, FixFee  *Named
	CreationTimestamp        uint64
	Created                  *eventJSON `json:"createdSrcEventMetadata"`
	Fulfilled                *eventJSON `json:"fulfilledDstEventMetadata"`
	SentUnlock               infoJSON   `json:"sentUnlockDstEventInfo"`
	ClaimedUnlock            infoJSON   `json:"claimedUnlockSrcEventInfo"`
	Cancelled                *eventJSON `json:"orderCancelledDstEventMetadata"`
	SentCancel               infoJSON   `json:"sentOrderCancelDstEventInfo"`
	ClaimedCancel            infoJSON   `json:"claimedOrderCancelSrcEventInfo"`
}

func DecodeInto[T any](t *testing.T, text []byte) (into T) {
	t.Helper()
	if err := json.Unmarshal(text, &into); err != nil {
		t.Fatal(err)
	}
	return into
}

func seen[F order.Fact](id chain.ID, e *eventJSON, fact F) *order.Seen[F] {
	if e == nil {
		return nil
	}
	tx, _ := chain.ParseTxHash(e.TransactionHash.Text)
	return &order.Seen[F]{At: order.At{Chain: id, Tx: tx, Block: e.BlockNumber, Time: e.BlockTimeStamp, Initiator: e.Initiator.address()}, Fact: fact}
}

func recordIn(t *testing.T, text []byte) *wire.Record {
	t.Helper()
	return DecodeInto[recordJSON](t, text).record(t)
}

func (r recordJSON) record(t *testing.T) *wire.Record {
	t.Helper()
	o := &order.Order{Terms: order.Terms{Maker: r.MakerSrc.address(), Receiver: r.ReceiverDst.address(), Give: r.Give.offer(), Take: r.Take.offer()}}
	o.Terms.Authorities.AllowedTaker = r.AllowedTakerDst.address()
	o.ID, _ = chain.ParseHash(r.OrderID.Text)
	for _, s := range orders.AllStates {
		if s.String() == r.State {
			o.State = s
		}
	}
	if r.ExternalCallState != order.NoExtCall.String() && r.ExternalCallState != "" {
		o.Call = order.Completed
	}
	o.GiveFinal, o.TakeFinal = r.Give.FinalAmount.Amount(), r.Take.FinalAmount.Amount()
	if r.FinalPercentFee != nil {
		fee := r.FinalPercentFee.Amount()
		o.FinalPercentFee = &fee
	}
	give, take := r.Give.ChainID.chain(), r.Take.ChainID.chain()
	var created order.Created
	if r.FixFee != nil {
		created.FixFee = r.FixFee.Amount()
	}
	fulfilled := order.Fulfilled{Taker: r.Taker.address()}
	if r.ActualFulfillAmount != nil {
		amount := r.ActualFulfillAmount.Amount()
		fulfilled.ActualAmount = &amount
	}
	if r.CreationTimestamp > 0 { // of a list
		r.Created = &eventJSON{BlockTimeStamp: r.CreationTimestamp}
	}
	o.Created, o.Fulfilled = seen(give, r.Created, created), seen(take, r.Fulfilled, fulfilled)
	o.SentUnlock, o.ClaimedUnlock = seen(take, r.SentUnlock.TransactionMetadata, order.Sent{}), seen(give, r.ClaimedUnlock.TransactionMetadata, order.Claimed{})
	o.Cancelled, o.SentCancel = seen(take, r.Cancelled, order.Cancelled{}), seen(take, r.SentCancel.TransactionMetadata, order.Sent{})
	o.ClaimedCancel = seen(give, r.ClaimedCancel.TransactionMetadata, order.Claimed{})
	return &wire.Record{Order: o, Give: r.Give.token(), Take: r.Take.token()}
}

func listIn(t *testing.T, text []byte) *orders.Listed {
	t.Helper()
	read := DecodeInto[struct {
		Orders     []recordJSON
		TotalCount uint64
	}](t, text)
	list := &orders.Listed{Total: read.TotalCount}
	for _, r := range read.Orders {
		list.Records = append(list.Records, wire.Listed{Order: r.record(t)})
	}
	return list
}

// lockedIn also returns the ids of the orders, in the sequence of the answer.
func lockedIn(t *testing.T, text []byte) (locked *orders.Locked, ids []order.ID) {
	t.Helper()
	locked = &orders.Locked{Worth: wire.Worth{Tokens: map[token.Key]token.Token{}, USD: map[token.Key]*big.Rat{}}}
	for _, c := range DecodeInto[[]struct {
		ChainID      Named
		LockedTokens []struct {
			TokenAddress           Named
			TokenMetadata          tokenJSON
			Amount, TokenAmount    json.Number
			DstChainsLockedAmounts []struct {
				TargetChainID       Named
				DstChainTokenAmount json.Number
				OrdersToUnlock      []Named
			}
		}
	}](t, text) {
		on := order.LockedChain{Chain: c.ChainID.chain()}
		for _, l := range c.LockedTokens {
			key := token.Key{Chain: on.Chain, Address: l.TokenAddress.address()}
			locked.Tokens[key] = l.TokenMetadata.token()
			units := func(whole json.Number) chain.Amount {
				amount, _ := new(big.Rat).SetString(whole.String())
				scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(l.TokenMetadata.Decimals)), nil)
				a, _ := chain.ParseAmount(amount.Mul(amount, new(big.Rat).SetInt(scale)).RatString())
				return a
			}
			if usd, is := new(big.Rat).SetString(l.Amount.String()); is {
				all, _ := new(big.Rat).SetString(l.TokenAmount.String())
				locked.USD[key] = usd.Quo(usd, all)
			}
			of := order.LockedToken{Token: key.Address, Amount: units(l.TokenAmount)}
			for _, d := range l.DstChainsLockedAmounts {
				target := order.LockedTarget{Chain: d.TargetChainID.chain(), Amount: units(d.DstChainTokenAmount)}
				for _, id := range d.OrdersToUnlock {
					parsed, _ := chain.ParseHash(id.Text)
					target.Orders, ids = append(target.Orders, parsed), append(ids, parsed)
				}
				of.Targets = append(of.Targets, target)
			}
			on.Tokens = append(on.Tokens, of)
		}
		locked.Chains = append(locked.Chains, on)
	}
	return locked, ids
}

func lockedOf(t *testing.T, text []byte) *orders.Locked {
	t.Helper()
	locked, _ := lockedIn(t, text)
	return locked
}
